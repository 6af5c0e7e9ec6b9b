package demo

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The repository of the demo: small, real, in Go with the standard library only.
// Forty test files in a home-made style are to be moved to table tests.

// function is one exported function with its cases.
type function struct {
	name  string
	code  string
	cases []testCase
}

type testCase struct{ name, got, want string }

// folder is one package.
type folder struct {
	name      string
	imports   []string
	functions []function
}

const module = "example.test/shop"

// write lays the repository out in a folder and returns how many test files and
// cases it has.
func write(dir string) (files, cases int, err error) {
	put := func(name, text string) {
		if err != nil {
			return
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
	}
	put("go.mod", "module "+module+"\n\ngo 1.24\n")
	put("README.md", "# shop\n\nSmall helpers of a shop. `go test ./...` runs the tests.\n")
	put("expect/expect.go", expectPackage)
	for _, f := range folders() {
		for _, fn := range f.functions {
			base := f.name + "/" + strings.ToLower(fn.name)
			put(base+".go", source(f, fn))
			put(base+"_test.go", homeMade(f, fn))
			files++
			cases += len(fn.cases)
		}
	}
	return files, cases, err
}

func source(f folder, fn function) string {
	var used []string
	for _, i := range f.imports {
		if strings.Contains(fn.code, i[strings.LastIndexByte(i, '/')+1:]+".") {
			used = append(used, fmt.Sprintf("import %q\n", i))
		}
	}
	head := "package " + f.name + "\n\n"
	if len(used) > 0 {
		head += strings.Join(used, "") + "\n"
	}
	return head + fn.code + "\n"
}

// homeMade is a test in the style that is to go.
func homeMade(f folder, fn function) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"testing\"\n\n\t%q\n)\n\nfunc Test%s(t *testing.T) {\n\tthat := expect.New(t)\n", f.name, module+"/expect", fn.name)
	for _, c := range fn.cases {
		fmt.Fprintf(&b, "\tthat.Equal(%q, %s, %s)\n", c.name, c.got, c.want)
	}
	b.WriteString("}\n")
	return b.String()
}

const expectPackage = `// Package expect is the home-made way to write tests here.
package expect

import "testing"

// That holds a test.
type That struct{ t *testing.T }

// New begins.
func New(t *testing.T) That { return That{t} }

// Equal runs one named case.
func (that That) Equal(name string, got, want any) {
	that.t.Helper()
	that.t.Run(name, func(t *testing.T) {
		if got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}
`

func folders() []folder {
	return []folder{
		{name: "calc", functions: []function{
			{"Add", "// Add adds.\nfunc Add(a, b int) int { return a + b }", []testCase{{"two and two", "Add(2, 2)", "4"}, {"one below zero", "Add(-3, 1)", "-2"}, {"nothing", "Add(0, 0)", "0"}}},
			{"Clamp", "// Clamp keeps n within lo and hi.\nfunc Clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }", []testCase{{"below", "Clamp(-1, 0, 9)", "0"}, {"within", "Clamp(5, 0, 9)", "5"}, {"above", "Clamp(12, 0, 9)", "9"}}},
			{"Cube", "// Cube is the third power.\nfunc Cube(n int) int { return n * n * n }", []testCase{{"of two", "Cube(2)", "8"}, {"of minus two", "Cube(-2)", "-8"}, {"of zero", "Cube(0)", "0"}}},
			{"Distance", "// Distance is how far a and b are apart.\nfunc Distance(a, b int) int { return max(a, b) - min(a, b) }", []testCase{{"forward", "Distance(1, 4)", "3"}, {"backward", "Distance(4, 1)", "3"}, {"across zero", "Distance(-2, 2)", "4"}}},
			{"Even", "// Even reports whether n can be halved.\nfunc Even(n int) bool { return n%2 == 0 }", []testCase{{"four is", "Even(4)", "true"}, {"seven is not", "Even(7)", "false"}, {"minus two is", "Even(-2)", "true"}}},
			{"Half", "// Half rounds towards zero.\nfunc Half(n int) int { return n / 2 }", []testCase{{"of ten", "Half(10)", "5"}, {"of an odd one", "Half(7)", "3"}, {"of a negative one", "Half(-7)", "-3"}}},
			{"Mean", "// Mean rounds down.\nfunc Mean(a, b int) int { return (a + b) >> 1 }", []testCase{{"of equals", "Mean(3, 3)", "3"}, {"rounds down", "Mean(1, 2)", "1"}, {"below zero", "Mean(-4, -2)", "-3"}}},
			{"Percent", "// Percent is part of whole in percent; 0 of nothing.\nfunc Percent(part, whole int) int {\n\tif whole == 0 {\n\t\treturn 0\n\t}\n\treturn 100 * part / whole\n}", []testCase{{"a half", "Percent(1, 2)", "50"}, {"of nothing", "Percent(1, 0)", "0"}, {"everything", "Percent(7, 7)", "100"}}},
			{"Sign", "// Sign is -1, 0 or 1.\nfunc Sign(n int) int {\n\tswitch {\n\tcase n < 0:\n\t\treturn -1\n\tcase n > 0:\n\t\treturn 1\n\t}\n\treturn 0\n}", []testCase{{"minus", "Sign(-8)", "-1"}, {"plus", "Sign(8)", "1"}, {"none", "Sign(0)", "0"}}},
			{"Square", "// Square is the second power.\nfunc Square(n int) int { return n * n }", []testCase{{"of three", "Square(3)", "9"}, {"of minus three", "Square(-3)", "9"}, {"of one", "Square(1)", "1"}}},
		}},
		{name: "list", imports: []string{"slices"}, functions: []function{
			{"Concat", "// Concat joins two lists.\nfunc Concat(a, b []int) int { return len(slices.Concat(a, b)) }", []testCase{{"both", "Concat([]int{1}, []int{2, 3})", "3"}, {"one empty", "Concat(nil, []int{2})", "1"}, {"both empty", "Concat(nil, nil)", "0"}}},
			{"Count", "// Count counts n.\nfunc Count(all []int, n int) int {\n\tc := 0\n\tfor _, v := range all {\n\t\tif v == n {\n\t\t\tc++\n\t\t}\n\t}\n\treturn c\n}", []testCase{{"twice", "Count([]int{1, 2, 1}, 1)", "2"}, {"never", "Count([]int{1}, 9)", "0"}, {"in nothing", "Count(nil, 1)", "0"}}},
			{"First", "// First is the first, or 0.\nfunc First(all []int) int {\n\tif len(all) == 0 {\n\t\treturn 0\n\t}\n\treturn all[0]\n}", []testCase{{"of three", "First([]int{4, 5, 6})", "4"}, {"of one", "First([]int{7})", "7"}, {"of none", "First(nil)", "0"}}},
			{"Has", "// Has reports whether n is in all.\nfunc Has(all []int, n int) bool { return slices.Contains(all, n) }", []testCase{{"it has", "Has([]int{1, 2}, 2)", "true"}, {"it has not", "Has([]int{1, 2}, 3)", "false"}, {"empty has not", "Has(nil, 1)", "false"}}},
			{"Index", "// Index is where n is first, or -1.\nfunc Index(all []int, n int) int { return slices.Index(all, n) }", []testCase{{"at the start", "Index([]int{9, 8}, 9)", "0"}, {"later", "Index([]int{9, 8}, 8)", "1"}, {"nowhere", "Index(nil, 8)", "-1"}}},
			{"Last", "// Last is the last, or 0.\nfunc Last(all []int) int {\n\tif len(all) == 0 {\n\t\treturn 0\n\t}\n\treturn all[len(all)-1]\n}", []testCase{{"last of three", "Last([]int{4, 5, 6})", "6"}, {"last of one", "Last([]int{7})", "7"}, {"last of none", "Last(nil)", "0"}}},
			{"Largest", "// Largest is the largest, or 0.\nfunc Largest(all []int) int {\n\tif len(all) == 0 {\n\t\treturn 0\n\t}\n\treturn slices.Max(all)\n}", []testCase{{"in the middle", "Largest([]int{1, 9, 2})", "9"}, {"all below zero", "Largest([]int{-5, -2})", "-2"}, {"largest of none", "Largest(nil)", "0"}}},
			{"Reverse", "// Reverse gives the first of the list turned round.\nfunc Reverse(all []int) int {\n\tc := slices.Clone(all)\n\tslices.Reverse(c)\n\treturn First(c)\n}", []testCase{{"of two", "Reverse([]int{1, 2})", "2"}, {"of a single one", "Reverse([]int{3})", "3"}, {"of an empty list", "Reverse(nil)", "0"}}},
			{"Sum", "// Sum adds all.\nfunc Sum(all []int) int {\n\ts := 0\n\tfor _, v := range all {\n\t\ts += v\n\t}\n\treturn s\n}", []testCase{{"of a few", "Sum([]int{1, 2, 3})", "6"}, {"with negatives", "Sum([]int{1, -1})", "0"}, {"sum of none", "Sum(nil)", "0"}}},
			{"Unique", "// Unique counts different ones.\nfunc Unique(all []int) int {\n\tc := slices.Clone(all)\n\tslices.Sort(c)\n\treturn len(slices.Compact(c))\n}", []testCase{{"doubles count once", "Unique([]int{1, 1, 2})", "2"}, {"all different", "Unique([]int{3, 2, 1})", "3"}, {"unique of none", "Unique(nil)", "0"}}},
		}},
		{name: "text", imports: []string{"strings", "unicode"}, functions: []function{
			{"Blank", "// Blank reports whether s holds nothing to read.\nfunc Blank(s string) bool { return strings.TrimSpace(s) == \"\" }", []testCase{{"spaces are", "Blank(\"  \")", "true"}, {"a word is not", "Blank(\"a\")", "false"}, {"nothing is", "Blank(\"\")", "true"}}},
			{"Center", "// Center pads s on both sides.\nfunc Center(s string, n int) string { return strings.Repeat(\"-\", n) + s + strings.Repeat(\"-\", n) }", []testCase{{"by one", "Center(\"a\", 1)", "\"-a-\""}, {"by none", "Center(\"a\", 0)", "\"a\""}, {"around nothing", "Center(\"\", 2)", "\"----\""}}},
			{"Initial", "// Initial is the first letter, in capitals.\nfunc Initial(s string) string {\n\tif s == \"\" {\n\t\treturn \"\"\n\t}\n\treturn strings.ToUpper(s[:1])\n}", []testCase{{"of a name", "Initial(\"mara\")", "\"M\""}, {"already large", "Initial(\"Bo\")", "\"B\""}, {"of no name", "Initial(\"\")", "\"\""}}},
			{"Join", "// Join sets a comma between.\nfunc Join(a, b string) string { return a + \", \" + b }", []testCase{{"two words", "Join(\"a\", \"b\")", "\"a, b\""}, {"first empty", "Join(\"\", \"b\")", "\", b\""}, {"both empty", "Join(\"\", \"\")", "\", \""}}},
			{"Lower", "// Lower makes small letters.\nfunc Lower(s string) string { return strings.ToLower(s) }", []testCase{{"mixed", "Lower(\"AbC\")", "\"abc\""}, {"small stays", "Lower(\"abc\")", "\"abc\""}, {"digits stay", "Lower(\"A1\")", "\"a1\""}}},
			{"Prefix", "// Prefix reports whether s begins with p.\nfunc Prefix(s, p string) bool { return strings.HasPrefix(s, p) }", []testCase{{"it begins so", "Prefix(\"shop\", \"sh\")", "true"}, {"it does not", "Prefix(\"shop\", \"op\")", "false"}, {"with nothing always", "Prefix(\"shop\", \"\")", "true"}}},
			{"Repeat", "// Repeat says s n times.\nfunc Repeat(s string, n int) string { return strings.Repeat(s, n) }", []testCase{{"thrice", "Repeat(\"ab\", 3)", "\"ababab\""}, {"once", "Repeat(\"ab\", 1)", "\"ab\""}, {"zero times", "Repeat(\"ab\", 0)", "\"\""}}},
			{"Shout", "// Shout makes capitals.\nfunc Shout(s string) string { return strings.ToUpper(s) }", []testCase{{"a word", "Shout(\"hey\")", "\"HEY\""}, {"with a sign", "Shout(\"hey!\")", "\"HEY!\""}, {"silence", "Shout(\"\")", "\"\""}}},
			{"Trim", "// Trim takes blanks off both ends.\nfunc Trim(s string) string { return strings.TrimSpace(s) }", []testCase{{"both ends", "Trim(\" a \")", "\"a\""}, {"inside stays", "Trim(\"a b\")", "\"a b\""}, {"only blanks", "Trim(\"   \")", "\"\""}}},
			{"Words", "// Words counts words.\nfunc Words(s string) int { return len(strings.FieldsFunc(s, unicode.IsSpace)) }", []testCase{{"two", "Words(\"two words\")", "2"}, {"extra blanks", "Words(\"  a   b \")", "2"}, {"no words", "Words(\"\")", "0"}}},
		}},
		{name: "till", functions: []function{
			{"Cents", "// Cents of an amount in euros.\nfunc Cents(euros int) int { return euros * 100 }", []testCase{{"of one euro", "Cents(1)", "100"}, {"of a debt", "Cents(-2)", "-200"}, {"of nothing owed", "Cents(0)", "0"}}},
			{"Change", "// Change is what the customer gets back.\nfunc Change(price, paid int) int { return max(paid-price, 0) }", []testCase{{"too much paid", "Change(7, 10)", "3"}, {"exact", "Change(7, 7)", "0"}, {"too little paid", "Change(7, 5)", "0"}}},
			{"Coins", "// Coins of one and two that make n, as few as can be.\nfunc Coins(n int) int { return n/2 + n%2 }", []testCase{{"for four", "Coins(4)", "2"}, {"for five", "Coins(5)", "3"}, {"for none", "Coins(0)", "0"}}},
			{"Discount", "// Discount takes p percent off.\nfunc Discount(price, p int) int { return price - price*p/100 }", []testCase{{"ten percent", "Discount(200, 10)", "180"}, {"no discount", "Discount(200, 0)", "200"}, {"all of it", "Discount(200, 100)", "0"}}},
			{"Due", "// Due reports whether something is left to pay.\nfunc Due(total, paid int) bool { return paid < total }", []testCase{{"some is left", "Due(10, 4)", "true"}, {"nothing is left", "Due(10, 10)", "false"}, {"overpaid", "Due(10, 11)", "false"}}},
			{"Free", "// Free reports whether shipping costs nothing.\nfunc Free(total int) bool { return total >= 50 }", []testCase{{"a large order", "Free(80)", "true"}, {"right at it", "Free(50)", "true"}, {"a small order", "Free(49)", "false"}}},
			{"Gross", "// Gross adds the tax.\nfunc Gross(net, tax int) int { return net + net*tax/100 }", []testCase{{"with nineteen", "Gross(100, 19)", "119"}, {"with seven", "Gross(100, 7)", "107"}, {"untaxed", "Gross(100, 0)", "100"}}},
			{"Net", "// Net takes the tax out.\nfunc Net(gross, tax int) int { return gross * 100 / (100 + tax) }", []testCase{{"from nineteen", "Net(119, 19)", "100"}, {"from seven", "Net(107, 7)", "100"}, {"from none", "Net(100, 0)", "100"}}},
			{"Round", "// Round to the next five cents, downwards.\nfunc Round(cents int) int { return cents - cents%5 }", []testCase{{"down to five", "Round(7)", "5"}, {"stays at ten", "Round(10)", "10"}, {"down to zero", "Round(4)", "0"}}},
			{"Total", "// Total of a line.\nfunc Total(price, pieces int) int { return price * pieces }", []testCase{{"of three pieces", "Total(4, 3)", "12"}, {"of one piece", "Total(4, 1)", "4"}, {"of no pieces", "Total(4, 0)", "0"}}},
		}},
	}
}
