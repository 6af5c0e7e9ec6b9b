package redact

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// ordinary is text as agents see it all day: code, a JSON tool result with code in it, a lock file, a log.
func ordinary(kind string) string {
	var b strings.Builder
	for i := 0; b.Len() < 16<<10; i++ {
		switch kind {
		case "code":
			fmt.Fprintf(&b, "// load%d reads one row.\nfunc (s *store%d) load(ctx context.Context, id string) (*row, error) {\n\tif id == \"\" {\n\t\treturn nil, fmt.Errorf(\"load %%q: %%w\", id, errEmpty)\n\t}\n\tr := &row{ID: id, Name: s.names[id], Count: %d}\n\treturn r, s.db.QueryRowContext(ctx, query, id).Scan(&r.Name, &r.Count)\n}\n\n", i, i, i*17)
		case "log":
			fmt.Fprintf(&b, "2026-02-%02dT10:%02d:11Z INFO server request_id=%08x-aa7e-4572-8f75-72c0c058c2e0 method=GET path=/api/jobs/%d status=200 duration=%dms\n", i%28+1, i%60, i*2654435761, i, i%900)
		case "lock":
			fmt.Fprintf(&b, "    \"node_modules/pkg-%d\": {\n      \"version\": \"%d.2.1\",\n      \"resolved\": \"https://registry.example.test/pkg-%d/-/pkg-%d-%d.2.1.tgz\",\n      \"integrity\": \"sha512-%s==\"\n    },\n", i, i, i, i, i, strings.Repeat(fmt.Sprintf("Ab%dx", i%90+10), 18)[:86])
		}
	}
	return b.String()[:16<<10]
}

func transcript() string {
	b, err := json.Marshal(map[string]any{"type": "tool_result", "uuid": "603e1b6a-aa7e-4572-8f75-72c0c058c2e0", "content": ordinary("code")})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func BenchmarkText(b *testing.B) {
	r := New([]byte("key"), nil)
	mixed := ordinary("log") + "\nAPI_TOKEN=" + fake("ghp_", 36) + "\n" + ordinary("code") + "\npassword: \"" + fake("", 20) + "\"\n"
	for name, text := range map[string]string{
		"code": ordinary("code"), "log": ordinary("log"), "lock": ordinary("lock"), "transcript": transcript(), "mixed": mixed,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			start := cpuTime()
			for b.Loop() {
				r.Text(text)
			}
			b.ReportMetric(float64(len(text))*float64(b.N)/1e6/(cpuTime()-start).Seconds(), "cpuMB/s")
		})
	}
}

func BenchmarkJSON(b *testing.B) {
	r := New([]byte("key"), nil)
	type step struct {
		Tool, Input, Output string
		Exit                int
		Token               int64
	}
	v := []step{{"Bash", "go test ./...", ordinary("log"), 0, 7}, {"Read", "store.go", ordinary("code"), 0, 7}}
	b.SetBytes(32 << 10)
	start := cpuTime()
	for b.Loop() {
		if _, err := r.JSON(v); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(32<<10)*float64(b.N)/1e6/(cpuTime()-start).Seconds(), "cpuMB/s")
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New([]byte("key"), nil)
	}
}

// BenchmarkHostile is text made of what rules look for, over and over: each must stay in proportion to its
// length. Compare ns/op of 64K and 256K.
func BenchmarkHostile(b *testing.B) {
	r := New([]byte("key"), []string{chosen()})
	for _, unit := range []string{
		"\\", "\" + ", "password=\"", "password: ", "://a:b@", "@", "a@b:", "-----BEGIN RSA PRIVATE KEY-----\n", "kind: Secret\ndata:\n", "mysql -p ",
		"echo | sudo -S ", "name: DB_PASSWORD value=", "$6$", "<", "token to ", "Cookie: a=b;", "LS0tLS1C", "a,password,", "password |\n", "(\"password\",",
	} {
		for _, size := range []int{64 << 10, 256 << 10} {
			text := strings.Repeat(unit, size/len(unit))
			b.Run(fmt.Sprintf("%q/%dK", unit, size>>10), func(b *testing.B) {
				for b.Loop() {
					r.find(text, hint{})
				}
			})
		}
	}
}
