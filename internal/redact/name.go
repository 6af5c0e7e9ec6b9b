package redact

// strength is how much a name says about its value.
type strength uint8

const (
	none   strength = iota
	bare            // "key": says something in a query string only
	weak            // some key: its value must look random
	token           // a token: its value must not look like a word or a name
	passwd          // a password: any value that is none of the guards' cases
)

// nameStrength judges the name of a field, variable, flag, header or element: by its last part, since
// PASSWORD_FIELD_NAME, token_ttl and secretKeyRef name other things, after parts that only say which one it
// is (_PROD, _2, -value) are taken off.
func nameStrength(name string) strength {
	if len(name) < 2 {
		return none
	}
	var buf [64]byte
	n := snake(&buf, name)
	for n > 0 {
		last, rest := lastPart(buf[:n])
		if s := partStrength(last, buf[:rest]); s != none {
			return s
		}
		if rest == 0 || !only(last, rest) {
			return none
		}
		n = rest
	}
	return none
}

// snake writes the end of name in lower_case, its parts divided by one underscore each.
func snake(buf *[64]byte, name string) int {
	if len(name) > 40 {
		name = name[len(name)-40:]
	}
	n := 0
	for i := range len(name) {
		b := name[i]
		switch {
		case b < 0x80 && !alnum.has(b):
			if n > 0 && buf[n-1] != '_' {
				buf[n] = '_'
				n++
			}
			continue
		case i > 0 && uppers.has(b) && n > 0 && buf[n-1] != '_':
			before, after := name[i-1], byte(0)
			if i+1 < len(name) {
				after = name[i+1]
			}
			if lowers.has(before) || uppers.has(before) && lowers.has(after) && after != 's' {
				buf[n] = '_'
				n++
			}
		}
		if n >= len(buf)-1 {
			break
		}
		buf[n] = lowerByte(b)
		n++
	}
	for n > 0 && buf[n-1] == '_' {
		n--
	}
	return n
}

func lastPart(b []byte) (last []byte, rest int) {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] == '_' {
			return b[i+1:], i
		}
	}
	return b, 0
}

// only says whether a last part merely tells one credential from another of the same kind.
func only(last []byte, rest int) bool {
	if len(last) <= 4 && digit.count(string(last)) == len(last) {
		return true
	}
	switch string(last) {
	case "value", "val", "plaintext", "plain", "cleartext", "raw", "str", "string", "b64", "base64", "encoded", "data", "hex",
		"live", "prod", "production", "dev", "development", "staging", "stage", "test", "testing", "sandbox",
		"new", "old", "current", "default", "primary", "secondary", "backup", "base", "literal", "again", "confirm",
		"confirmation", "one", "two", "v1", "v2", "a", "b", "x", "local", "main", "admin", "root", "rw", "ro":
		return rest > 0
	}
	return false
}

// partStrength judges the last part of a name, with what stands before it.
func partStrength(last, before []byte) strength {
	for len(last) > 3 && digit.has(last[len(last)-1]) { // password1, key2
		last = last[:len(last)-1]
	}
	switch string(last) {
	case "password", "passwd", "passwort", "pwd", "pswd", "passphrase", "passcode", "passwords", "passw", "pword",
		"psk", "kennwort", "contraseña", "contrasena", "senha", "mdp", "пароль", "密码", "口令", "パスワード", "비밀번호", "parola", "wachtwoord", "hasło", "haslo":
		return passwd
	case "pass", "pw", "psw":
		return passwd
	case "token", "secret", "apikey", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken", "refreshtoken",
		"apitoken", "bearertoken", "clientsecret", "appsecret", "apisecret", "secretaccesskey", "credential", "credentials",
		"creds", "cred", "jwt", "authkey", "authorization", "passkey", "sastoken", "idtoken", "usertoken", "bottoken",
		"accountkey", "sharedaccesskey", "sharedkey", "masterkey", "encryptionkey", "servicekey", "secrets",
		"tokens", "apikeys", "sessiontoken", "webhooksecret", "phpsessid", "jsessionid", "sessid", "sessionid", "xsrf", "csrf",
		"licensekey", "appkey", "mnemonic", "bearer", "samlresponse", "identitytoken", "registrytoken", "consumersecret", "storagekey", "hmackey":
		return token
	case "auth":
		return token
	case "pat", "sas", "otp", "dsn":
		if len(before) > 0 && string(last) != "dsn" {
			return weak
		}
	case "signature":
		if endsIn(before, "oauth") {
			return token
		}
	case "salt":
		if endsIn(before, "auth") || endsIn(before, "logged_in") || endsIn(before, "nonce") || endsIn(before, "secret") {
			return token
		}
	case "code", "codes":
		if endsIn(before, "recovery") || endsIn(before, "backup") || endsIn(before, "unlock") || endsIn(before, "activation") {
			return token
		}
	case "phrase":
		if endsIn(before, "seed") || endsIn(before, "recovery") || endsIn(before, "mnemonic") || endsIn(before, "pass") {
			return passwd
		}
	case "key", "keys":
		return keyStrength(before)
	}
	n := len(last)
	switch {
	case endsIn(last, "password"), endsIn(last, "passwd"), endsIn(last, "passphrase"):
		if string(last) == "1password" || string(last) == "onepassword" { // the program
			return none
		}
		return passwd
	case endsIn(last, "pwd") && n <= 10:
		if string(last) == "oldpwd" {
			return none
		}
		return passwd
	case endsIn(last, "pass") && n <= 12:
		switch string(last) {
		case "bypass", "compass", "trespass", "overpass", "underpass", "surpass", "encompass", "subpass", "multipass", "singlepass":
			return none
		}
		return passwd
	case n <= 16 && (endsIn(last, "apikey") || endsIn(last, "secretkey") || endsIn(last, "authtoken") || endsIn(last, "accesstoken")):
		return token
	case n <= 14 && (endsIn(last, "token") || endsIn(last, "secret")):
		return weak
	}
	return none
}

// keyStrength judges a key by what stands before the word: which keys are credentials, and which are names of
// rows, files or buttons.
func keyStrength(before []byte) strength {
	if len(before) == 0 {
		return bare
	}
	kind, _ := lastPart(before)
	switch string(kind) {
	case "api", "secret", "access", "private", "auth", "account", "signing", "encryption", "master", "service", "license",
		"admin", "crypt", "enc", "jwt", "hmac", "webhook", "subscription", "function", "functions", "root", "deploy",
		"consumer", "app", "application", "client", "storage", "decryption", "recovery", "write", "ingest", "integration",
		"activation", "security", "session", "cookie", "shared", "wep", "wpa", "in", "nonce", "read", "rest", "server", "unseal":
		return token
	case "cache", "idempotency", "partition", "sort", "foreign", "public", "object", "s3", "row", "group", "routing",
		"dedupe", "dedup", "recv", "send", "gpg", "pgp", "trusted", "fingerprint", "hash", "map", "index", "composite", "lookup", "query", "translation", "i18n", "state", "event",
		"message", "host", "known", "range", "unique", "natural", "surrogate", "registry", "pub", "range_", "sub", "prefix",
		"config", "setting", "label", "column", "order", "shift", "ctrl", "alt", "meta", "hot", "any", "arrow", "enter",
		"escape", "tab", "json", "dict", "metric", "lock", "file", "path", "item", "node", "react", "parent", "child", "field":
		return none
	}
	return weak
}

func endsIn(b []byte, end string) bool {
	return len(b) >= len(end) && string(b[len(b)-len(end):]) == end
}
