package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// ordinaryLines are what a handover is made of: none of it is a credential.
const ordinaryLines = `password: string;
password?: string
token: Optional[str] = None
privateKey: Uint8Array,
password = self.password
password = prompt_for_password(copper, confirm=True)
password = config["db"]["password"]
const token = await getToken(user.id);
api_key=api_key
password: z.string().min(8),
password: req.body.password,
if (password === confirmPassword) {
if apiKey == "" {
if user.password_hash != hash_password(form.password, salt=copper.salt):
"api_key=" + apiKey
assert.Contains(t, output, "password="+expectedToken)
type Credentials struct { Password string }
def login(self, username: str, password: str, copper_token: str | None = None) -> Session:
private static final String PASSWORD_FIELD_NAME = "copperPasswordInput";
var tokenRe = regexp.MustCompile(` + "`ghp_[A-Za-z0-9]{36}`" + `)
copperKey := os.Getenv("COPPER_API_KEY")
headers["Authorization"] = "Bearer " + token
login(username, password)
await page.fill('input[name="password"]', pw)
!function(e,t){t.apiKey===n.token&&e.xieu(t)}
=== RUN   TestToken
--- PASS: TestPasswordResetToken_Copper (0.00s)
pass: 120, fail: 3, skip: 2
max_tokens=8192 total_tokens: 14100 cache_read_input_tokens: 715779
"usage":{"input_tokens":4,"cache_creation_input_tokens":14561,"output_tokens":2}
primary_key: lantern_id  foreign_key: quartz_fk  sort_key: created_at
cache_key: a1b2c3d4e5f60718293a4b5c6d7e8f90
idempotency_key=603e1b6a-aa7e-4572-8f75-72c0c058c2e0
request_id=603e1b6a-aa7e-4572-8f75-72c0c058c2e0 trace_id=7b6a1d102311eadd928288396ed3e7f5
"session_id": "7b6a1d10-2311-4ead-9284-88396ed3e7f5"
{"type": "tool_use", "id": "toolu_01NDuz15tig6J15xd8TJvp7u", "name": "Bash"}
{"call_id": "call_kGQGh9ia0Jwxn8yacMduTH4w", "type": "function_call"}
"id": "chatcmpl-fhkX5wvLqRnbv1isxRjTzHLD4ZOA2", "object": "chat.completion"
"requestId":"00000-aaaa0bb2-b2c0-4755-9bac-3d7201003407"
"signature":"EqQBr1hIBIPIw4o+9RqHL695xh1ZG4KI6Q8NnahMmipugEtH2yjyquLaGHk5yEhXC80mRtyL47c7zy8I0X5yp30uB9QcrLeLvjIWp"
commit 59db80513333768ddf5fcdfe36ca22c94eba6276
tree c3fdb0b643641f0714c12d06cdd3b88724afde919f20e10d534c57e439f1e39e
index fe2c985b1a..2b04236861 100644
github.com/lantern/quartz v1.1.0 h1:iQsst7EriAUen4zVKf0nJ70iZqyiN1mqbME3oiIjuMM=
"integrity": "sha512-to8n1HY+Opb+mf8rjJ3W9wOWzsbYOUKEm0rFBe/L0oEe1v0txwDjVgKo3tKBTOrc/6nv4R9QYu2RRv7Lgp+Tfg=="
copper==2.1 --hash=sha256:e56ce0567c5675124b68c6964bde7ac006d0e04419e2b1ab7983e770af8f7aad
nginx:1.27@sha256:792e9cdc59fe5b4d1647bd5eba1b7cefa601e91ba45cdde042d18dbbeca021f6
/nix/store/6dz5xiplrbkrn54qsznkrczd3r9v271m-openssl-3.0.14/bin
ETag: W/"c631-pvRj0E8G7ZJEvjT7HVAxICqjQ4d"
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIn3YvyWVNmrkS0Kffen4ElNEKrysCvydtwbODJkg3N copper@laptop
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjogMywgInNvdXJjZXMiOiBbImxhbnRlcm4udHMiXX0=
DB_PASSWORD=${DB_PASSWORD:?set it}
DB_PASSWORD="$(pass show db)"
SMTP_PASSWORD=
token: ${{ secrets.COPPER_TOKEN }}
password: {{ vault_copper_password }}
password: ******** (copper)
copper_password = None
OPENAI_API_KEY=your-api-key-here
export ANTHROPIC_API_KEY=sk-ant-...
aws_access_key_id = AKIAIOSFODNN7EXAMPLE
"password_placeholder": "Enter your copper password"
"password": "Password"
password_file: /run/secrets/db_password
PWD=/home/dev/app
PWD=/tmp/shop-018139/q7
{"pwd": "/tmp/shop-018139/q7", "OLDPWD": "D:\work\x7k2"}
secret_name: lantern
auth: none
Authorization: Bearer <your-copper-token>
Basic authentication and Bearer schemes are described in RFC 7617; copper uses neither.
Passwords must have at least 8 characters and expire after 90 days (copper policy).
The tokenizer splits the secret word copper into 2 tokens; the key insight is caching.
the password is sha256-hashed before storage
sessions are identified as "orphaned"
Rotated the copper API key in Vault; the new key is stored under secret/data/hazel.
FATAL:  password authentication failed for user "app"
mkdir -p build && docker run -p 8000:80 nginx && ssh -p 2222 host
ps -u copper; sort -u list; python -u run.py; git push -u origin main
mysql -h db.example -u root -p copper
cat token.txt | docker login -u copper --password-stdin
docker build --secret id=GIT_AUTH_TOKEN,src=/tmp/x9/f3a8b7c6d5 .
curl -u "$USER:$PASS" https://x.example
git config --global init.defaultBranch main2024x
git@github.com:copper/hazel.git and ssh://git@host:22/copper
postgres://${PGUSER}:${PGPASSWORD}@db:5432/copper
postgres://postgres:postgres@localhost:5432/test
postgres://USER:SCRUBBED@HOST:5432/db
https://user:pass@example.com/
arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf
<input type="password" name="password" id="copper-password" autocomplete="current-password">
.css-nj894mh{padding:4px}.copper__key--active{color:#daeef1}
      --pass: #16a34a;
CREATE TABLE copper_users (id uuid PRIMARY KEY, password_hash text NOT NULL, api_token_id bigint);
INSERT INTO users (name, password) VALUES ($1, $2)
"bos_token": "<s>", "eos_token": "<|im_end|>"
1password = "latest"
golang.org/x/exp v0.0.0-20251023183803-a4bb9ffd2546/go.mod h1:j/pmGrbnkbPtQfxEe5D0VQhZC6qKbfKifgD0oM7sR70=
github.com/valyala/bytebufferpool,v1.0.0,h1:GqA5TC/0021Y/b9FG4Oi9Mr3q7XYx6KllzawFIhcdPw=,7f59f32c568539af
"NewEncapsulationKey768": "NewEncapsulationKey1024",
config.Certificates[0].PrivateKey = testEd25519PrivateKey
NL80211_ATTR_SAE_PASSWORD = C.NL80211_ATTR_SAE_PASSWORD
this._username=s._username,this._password=s._password;break}
{this._scheme="",this._password=null,this._host="",this._port=""}
return this._username+(null!=this._password?":"+this._password:"")+"@"
pw := &PipeWriter{r: PipeReader{}}
// os/exec won't set PWD automatically.
gpg --keyserver hkps://keys.openpgp.org --recv-keys 5BE8A3F6C8A5C01D106C0AD820B1A390B168D356
unrecognized token: "x'012G45'"
{"0:0:0:0:000000:ffff:127.1.2.3", nil},
// groupname:password:GID:user_list
const key1 = scryptSync('password', 'salt', 64);
2013-03-21:514B5D8A.6040705@grothoff.org:
00000220  f0 41 7a 0d 87 c1 70 77  |.Az...pw.:..+..a|
Do not pass ` + "`mode:autofix` to it; to rerun pass `-p fnox-core --lib`" + `
Cache hit occurred on the primary key Windows-X64-mise-tools-10e3c71a74dacab56d94bfab69e8bb5f
password := args[1]`

func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	r := newTest()
	for line := range strings.Lines(ordinaryLines) {
		line = strings.TrimSuffix(line, "\n")
		stays(t, r, line)
		js, err := json.Marshal(map[string]string{"content": line, "next": "x"})
		if err != nil {
			t.Fatal(err)
		}
		stays(t, r, string(js))
		stays(t, r, "> "+line+"\n> next")
		stays(t, r, "    12\t"+line+"\n    13\tnext")
	}
	stays(t, r, ordinaryLines)
}

func TestNameStrength(t *testing.T) {
	t.Parallel()
	for want, names := range map[strength]string{
		passwd: "password PASSWORD dbPassword DB_PASS PGPASSWORD MYSQL_PWD ansible_become_pass keyPassphrase password2 PASSWORD_PROD storepass userPasswd psk",
		token:  "token api_key apiKey APIKey X-Api-Key client_secret AWS_SECRET_ACCESS_KEY SharedAccessKey _authToken secret_key_base client-key-data API_TOKEN_2 jwt",
		weak:   "STRIPE_KEY groqKey GITHUB_PAT primary_key",
		bare:   "key Key",
		none: "password_hash PASSWORD_FIELD_NAME token_ttl secretName secretKeyRef max_tokensize key_file foreign_key cacheKey publicKey compass bypass user id token_id " +
			"api_key_id tokenizer secretary OLDPWD input_tokens_total keyboard a",
	} {
		for name := range strings.FieldsSeq(names) {
			if got := nameStrength(name); got != want {
				t.Errorf("strength of %q is %d, want %d", name, got, want)
			}
		}
	}
}

func TestWordy(t *testing.T) {
	t.Parallel()
	for _, v := range strings.Fields("us-east-1 db-credentials-v2 sha256 server.key accessTokenExpired oauth2 ed25519 OPENAI_API_KEY 2026-02-11 HTTPServer x509 getAccessTokenForServiceAccount") {
		if !wordy(v) {
			t.Errorf("%q is made of words", v)
		}
	}
	for i := range 50 {
		if v := fakeOf(fmt.Sprintf("a7Kq3ZmX9vT2bR8wYc4NhJ6pLs5dGf%dEuQ", i), 24); wordy(v) {
			t.Errorf("%q is not made of words", v)
		}
	}
}
