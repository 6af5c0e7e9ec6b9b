package redact

import (
	"strings"
	"testing"
)

// cut is a case: text with @ where the credential stands, which is then password unless it says otherwise.
type cut struct{ kind, text, secret string }

func check(t *testing.T, cases []cut) {
	t.Helper()
	r := newTest()
	for _, c := range cases {
		if c.secret == "" {
			c.secret = chosen()
		}
		before, after, ok := strings.Cut(c.text, "@@")
		if !ok {
			t.Fatalf("%s: no @@ in %q", c.kind, c.text)
		}
		for _, wrap := range []struct{ name, before, after string }{
			{"plain", "", ""}, {"quoted", "> ", ""}, {"numbered", "    12\t", ""}, {"diff", "+", ""},
		} {
			b := wrap.before + strings.ReplaceAll(before, "\n", "\n"+wrap.before)
			a := strings.ReplaceAll(after, "\n", "\n"+wrap.before) + wrap.after
			gone(t, r, c.kind+" "+wrap.name, b, c.secret, a)
		}
	}
}

func TestNameAndValue(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"env", "DB_PASSWORD=@@\nDB_HOST=x", ""},
		{"env in quotes", `export DB_PASS="@@" && make`, ""},
		{"env with signs", "DB_PASSWORD=@@\n", "p" + "@ss,w0rd;x&y"},
		{"yaml", "db:\n  password: @@\n  user: app\n", ""},
		{"yaml in quotes", "pass: '@@'\n", ""},
		{"yaml on the next line", "password: >-\n  @@\n", ""},
		{"ini", "[client]\npassword = @@\nuser = app\n", ""},
		{"json", `{"user":"app","password":"@@","host":"db"}`, ""},
		{"json in json", `{"a":"{\"password\":\"@@\",\"x\":1}"}`, ""},
		{"camel case", `{"dbPassword": "@@"}`, ""},
		{"php array", "'password' => '@@',", ""},
		{"index", `config["db_password"] = "@@"`, ""},
		{"typed", `password: str = "@@"`, ""},
		{"rust", `let password: &str = "@@";`, ""},
		{"go", `var password string = "@@"`, ""},
		{"default", `${DB_PASSWORD:-@@}`, ""},
		{"fallback", "process.env.DB_PASSWORD; password = process.env.PW || '@@'", ""},
		{"wrapped", `password=SecretStr("@@")`, ""},
		{"compared", `if password == "@@" {`, ""},
		{"connection string", "Server=db;User Id=sa;Password=@@;Encrypt=true", ""},
		{"libpq", "host=db user=app password=@@ dbname=x", ""},
		{"query", "POST /login user=app&password=@@&x=1", ""},
		{"api key", "API key: @@\n", fake("", 32)},
		{"uuid as a token", "SNYK_TOKEN=@@\n", "5fd2a4d3-adc2-45b3-8e2b-ad1ac91a63e4"},
		{"named beside", "- name: DB_PASSWORD\n  value: @@\n", ""},
		{"named beside in xml", `<add key="SmtpPassword" value="@@" />`, ""},
		{"element", "<server><password>@@</password></server>", ""},
		{"element with an attribute", `<wsse:Password Type="x">@@</wsse:Password>`, ""},
		{"pgpass", "db.example:5432:shop:app_rw:@@\n", ""},
		{"other languages", "contraseña: @@\n", ""},
		{"bold", "**Password:** @@\n", ""},
		{"wireguard", "PrivateKey = @@\n", "W3kfLs9dKf0sPq8z" + "Lw3nR7Vx1mQ9dKf0sPq8zLw3nR4="},
	})
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	opaque := fake("", 40)
	check(t, []cut{
		{"bearer", "> Authorization: Bearer @@\n> Accept: */*", opaque},
		{"bearer in code", `headers = {"Authorization": "Bearer @@"}`, opaque},
		{"bearer set", `req.Header.Set("Authorization", "Bearer @@")`, opaque},
		{"token", `-H "Authorization: Token @@"`, fakeHex("", 40)},
		{"raw", "Authorization: @@\n", opaque},
		{"basic", "Proxy-Authorization: Basic @@\n", "YXBwX3J3Ok" + "NvcHBlci1qdW5pcGVyMjk0"},
		{"x-api-key", "--header 'X-Api-Key: @@'", opaque},
		{"session cookie", "Cookie: theme=dark; sessionid=@@; lang=en", opaque},
		{"set-cookie", "Set-Cookie: sid=@@; Path=/; HttpOnly", opaque},
		{"digest", `Authorization: Digest username="a", realm="r", response="@@"`, fakeHex("", 32)},
	})
}

func TestProse(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"is", "The staging admin password is @@, use it from the VPN.", ""},
		{"for", "the password for app_rw on db-02.example is @@", ""},
		{"changed", "I changed the root password to @@ yesterday", ""},
		{"use", "log in with password @@ on the box", ""},
		{"quoted", `WiFi password "@@" (guest)`, ""},
		{"in ticks", "the token is `@@`.", fake("", 32)},
		{"passphrase", `The key passphrase is "@@" (all lower case).`, "meadow falcon cobalt tundra"},
		{"words", "passphrase: @@\n", "meadow falcon cobalt tundra"},
		{"pair", "login: app_rw / pw: @@\n", ""},
		{"user and password", "credentials: app_rw / @@\n", ""},
		{"german", "Das Passwort lautet @@.", ""},
		{"netrc", "machine git.example.com\n  login app\n  password @@\n", ""},
	})
}

func TestCode(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"setter", `ds.setPassword("@@");`, ""},
		{"define", "define('DB_PASSWORD', '@@');", ""},
		{"macro", `#define DB_PASSWORD "@@"`, ""},
		{"setenv", `os.Setenv("DB_PASSWORD", "@@")`, ""},
		{"getenv", `os.getenv("DB_PASSWORD", "@@")`, ""},
		{"basic auth", `req.SetBasicAuth("app_rw", "@@")`, ""},
		{"tuple", "requests.get(u, auth=('app_rw', '@@'))", ""},
		{"jdbc", `DriverManager.getConnection(url, "app_rw", "@@");`, ""},
		{"struct", `cfg := Config{User: "app_rw", Password: "@@"}`, ""},
		{"powershell", `$Password = ConvertTo-SecureString "@@" -AsPlainText`, ""},
		{"sql", "CREATE USER 'app'@'%' IDENTIFIED BY '@@';", ""},
		{"sql with plugin", "ALTER USER 'a'@'b' IDENTIFIED WITH mysql_native_password BY '@@';", ""},
		{"postgres", "ALTER USER app WITH ENCRYPTED PASSWORD '@@' VALID UNTIL 'infinity';", ""},
		{"mssql", "CREATE LOGIN app WITH PASSWORD = N'@@', CHECK_POLICY = OFF;", ""},
		{"oracle", "CREATE USER app IDENTIFIED BY @@ DEFAULT TABLESPACE x;", ""},
		{"insert", "INSERT INTO users (name, password) VALUES ('app', '@@');", ""},
	})
}

func TestShell(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"mysql", "mysql -h db -u app_rw -p@@ shop < dump.sql", ""},
		{"sshpass", "sshpass -p '@@' ssh root@host uptime", ""},
		{"redis", "redis-cli -h db -a @@ ping", ""},
		{"curl", "curl -u app_rw:@@ https://jenkins.example.net/x", ""},
		{"docker", "docker login registry.example.net -u app_rw -p @@", ""},
		{"stdin", "echo '@@' | docker login -u app_rw --password-stdin registry.example.net", ""},
		{"sudo", "echo @@ | sudo -S systemctl restart nginx", ""},
		{"here string", `sudo -S ls <<< "@@"`, ""},
		{"chpasswd", `echo "app:@@" | chpasswd`, ""},
		{"ldap", "ldapsearch -x -D cn=admin,dc=acme -w @@ -b dc=acme", ""},
		{"sqlcmd", "sqlcmd -S db -U sa -P '@@' -Q 'select 1'", ""},
		{"openssl", "openssl pkcs12 -in c.p12 -passin pass:@@ -nodes", ""},
		{"sqlplus", "sqlplus scott/@@@ORCL", ""},
		{"smbclient", "smbclient //srv/share -U app%@@", ""},
		{"az", "az login --service-principal -u x -p @@ --tenant y", fake("", 28)},
		{"snyk", "snyk auth @@\n", "5fd2a4d3-adc2-45b3-8e2b-ad1ac91a63e4"},
		{"npm", "npm config set //registry.example.test/:_authToken @@\n", fake("", 32)},
		{"long flag", "wget --http-user=app --http-password=@@ https://x.example/f", ""},
		{"long flag, apart", "gpg --batch --passphrase '@@' -d backup.gpg", ""},
		{"arguments of a program", `subprocess.run(["mysql", "--password", "@@", "shop"])`, ""},
		{"terraform", "terraform apply -var 'db_password=@@' -auto-approve", ""},
		{"kubectl", "kubectl create secret generic db --from-literal=password=@@ -n prod", ""},
	})
}

func TestURLs(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"postgres", "DATABASE_URL=postgres://app_rw:@@@db.example:5432/orders?sslmode=require", ""},
		{"no user", "REDIS_URL=redis://:@@@db.example:6379/0", ""},
		{"proxy", "HTTPS_PROXY=http://app_rw:@@@proxy.corp.example:3128", ""},
		{"slash in it", "postgres://app:@@@db.example/x", "pa/" + chosen()},
		{"hash in it", "postgres://app:@@@db.example/x", "x9#Kp2" + "$mQ"},
		{"token as the user", "https://@@@sentry.example/4", fakeHex("", 32)},
		{"go dsn", "app_rw:@@@tcp(db.example:3306)/shop?parseTime=true", ""},
		{"oracle", "jdbc:oracle:thin:scott/@@@db.example:1521/ORCL", ""},
		{"no scheme", "--proxy app:@@@proxy.example:3128", ""},
		{"signature", "https://acme.blob.core.windows.net/c?sv=2023-11-03&sig=@@&sp=r", fake("", 44)},
		{"presigned", "https://acme.s3.amazonaws.com/d?X-Amz-Expires=900&X-Amz-Signature=@@", fakeHex("", 64)},
		{"otpauth", "otpauth://totp/Acme:bob?secret=@@&issuer=Acme", "25Z4AST73ST3OILE" + "FVUCPYAXYXZCUJ3P"},
		{"slack", "curl -X POST https://hooks.slack.com/services/@@ -d x", "T0AB1CD2E/B0FG3HI4J/" + fake("", 24)},
		{"telegram", "https://api.telegram.org/bot@@\n", "7123456789:AA" + fake("", 33)},
	})
}

func TestSecretsOfKubernetes(t *testing.T) {
	t.Parallel()
	encoded := "TGFudGVybk" + "VtYmVyITc="
	check(t, []cut{
		{"yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: @@\ntype: Opaque\n", encoded},
		{"sorted", "apiVersion: v1\ndata:\n  password: @@\nkind: Secret\nmetadata:\n  name: db\n", encoded},
		{"plain", "kind: Secret\nstringData:\n  smtp: @@\n", "anything"},
		{"json", `{"kind": "Secret", "data": {"redis-password": "@@"}, "type": "Opaque"}`, encoded},
	})
	r := newTest()
	stays(t, r, "kind: ConfigMap\ndata:\n  mode: production\n---\nkind: Secret\nmetadata:\n  name: x\n")
	stays(t, r, "valueFrom:\n  secretKeyRef:\n    name: copper-credentials\n    key: password\n")
}

func TestNamesElsewhere(t *testing.T) {
	t.Parallel()
	check(t, []cut{
		{"output of terraform", `{"db_password": {"sensitive": true, "type": "string", "value": "@@"}}`, ""},
		{"variable of terraform", "variable \"db_password\" {\n  default = \"@@\"\n}", ""},
		{"properties", `<entry key="db.password">@@</entry>`, ""},
		{"property list", "<key>Password</key>\n<string>@@</string>", ""},
		{"list", "passwords:\n  - @@\nnext: 1", ""},
		{"csv", "username,password,role\napp_rw,@@,admin\n", ""},
		{"query", " id | username | password \n----+----------+---------\n  1 | app_rw   | @@\n(1 row)", ""},
		{"markdown", "| user | password |\n|---|---|\n| app_rw | @@ |", ""},
		{"unseal key", "Unseal Key 1: @@\n", fake("", 43) + "="},
		{"storage key", `{"keyName": "key1", "permissions": "FULL", "value": "@@"}`, fake("", 86) + "=="},
		{"browser cookie", `{"name":"connect.sid","value":"@@","domain":"x","httpOnly":true}`, fake("", 40)},
		{"own scheme", "Authorization: GenieKey @@\n", "5fd2a4d3-adc2-45b3-8e2b-ad1ac91a63e4"},
		{"key with 0x", "PRIVATE_KEY=@@\n", fakeHex("0x", 64)},
		{"redis", "AUTH default @@\n", ""},
		{"imap", "LOGIN app_rw @@\n", ""},
		{"ldif", "userPassword:: @@\n", "TGFudGVybk" + "VtYmVyITc="},
		{"masked", `echo "::add-mask::@@"`, ""},
		{"arrow", `password <- "@@"`, ""},
		{"make", "PASSWORD ?= @@\n", ""},
		{"gradle", "storePassword \"@@\"\nkeyAlias \"x\"", ""},
		{"expect", "expect \"password:\"\nsend \"@@\"", ""},
		{"url in url", "body=%7B%22password%22%3A%22@@%22%7D", ""},
		{"wide colon", "密码：@@", ""},
		{"french", "Le mot de passe est @@", ""},
		{"nt hash", "Administrator:500:@@:::", fakeHex("", 32) + ":" + fakeHex("", 32)},
	})
}
