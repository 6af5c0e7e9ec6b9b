package agent

import (
	"slices"
	"strings"
)

// What runs tests is told by how a program takes its orders. A name stands with a
// space on both sides.
const (
	// testers do nothing else.
	testers = " pytest py.test vitest jest mocha ava tap karma rspec phpunit pest ctest tox nox gotestsum nose2 nosetests trial cypress bats nextest ginkgo "
	// byVerb take a verb first: go test, flutter test, npm run test:unit.
	byVerb = " go dotnet deno mix swift bazel bazelisk flutter dart melos rails sbt zig composer ng playwright hatch forge stack cabal lein" +
		" npm yarn pnpm bun mise turbo nx moon lerna truffle hardhat "
	// byTarget take targets anywhere: make -j4 check.
	byTarget = " make gmake just task rake ninja invoke inv ant meson xcodebuild "
	// jvm take targets whose names end in what they do: ./gradlew :app:testDebug.
	jvm = " mvn mvnw gradle gradlew "
	// scripted run a file, which may be named for what it does: bash scripts/run-tests.sh.
	scripted = " sh bash zsh node ruby perl php python python3 py tsx ts-node "
	// carriers start another program, behind one of the carrying words.
	carriers = " python python3 py uv poetry pipenv pdm bundle coverage mise docker docker-compose podman nix devbox hatch yarn npm pnpm bun dotenv doppler rtx go deno "
	carrying = " -m run exec x -- -c tool task dlx "
)

func among(list, name string) bool { return name != "" && strings.Contains(list, " "+name+" ") }

// runsTests reports whether a command runs tests, as far as its words tell.
func (s stage) runsTests() bool {
	name, _, _ := strings.Cut(s.name(), "@") // vitest@3
	ops := s.operands("CFw", "--filter", "--prefix", "--workspace", "--cwd", "--dir", "--project", "--directory")
	if among(testers, name) || strings.HasSuffix(name, ".test") || strings.Contains(s.first(), "/") && testFile(name) {
		return true
	}
	if name == "cargo" {
		ops = slices.DeleteFunc(ops, func(w string) bool { return w[0] == '+' || w == "xtask" || w == "make" || w == "hack" })
		return len(ops) > 0 && (ops[0] == "t" || ops[0] == "nextest" || ops[0] == "test")
	}
	if len(ops) == 0 {
		return name == "node" && s.has("--test")
	}
	switch {
	case among(byTarget, name):
		return slices.ContainsFunc(ops, testVerb)
	case among(jvm, name):
		return slices.ContainsFunc(ops, func(w string) bool {
			w = w[strings.LastIndexByte(w, ':')+1:]
			return w == "verify" || w == "check" || strings.HasPrefix(w, "test") || strings.HasSuffix(w, "Test")
		})
	case among(byVerb, name) && s.testsByVerb(ops):
		return true
	case among(scripted, name) && (testFile(base(ops[0])) || s.has("--test") || len(ops) > 1 && ops[1] == "test"): // manage.py test
		return true
	}
	return among(carriers, name) && s.carriesTests()
}

func (s stage) first() string {
	if len(s.words) == 0 {
		return ""
	}
	return s.words[0]
}

// testsByVerb: ops begin with the verb, or with "run" and the verb, or with the
// name of a workspace and the verb.
func (s stage) testsByVerb(ops []string) bool {
	switch verb := ops[0]; verb {
	case "run", "r", "exec", "task", "affected", "run-many", "build":
		return (verb != "build" || s.name() == "zig") && slices.ContainsFunc(ops[1:min(3, len(ops))], testVerb)
	case "workspace":
		return len(ops) > 2 && (testVerb(ops[2]) || ops[2] == "run" && len(ops) > 3 && testVerb(ops[3]))
	case "t":
		return s.name() == "npm" || s.name() == "pnpm"
	case "check":
		return false // of types, of licences
	default:
		return testVerb(verb) || among(testers, verb)
	}
}

// carriesTests looks at the command behind each carrying word.
func (s stage) carriesTests() bool {
	for i, w := range s.words {
		if i == 0 || !among(carrying, w) {
			continue
		}
		for next := flagless(s.words[i+1:]); len(next) > 0; next = flagless(next[1:]) {
			inner := stage{words: next}
			if inner.name() == "unittest" || inner.runsTests() {
				return true
			}
			if !among(" docker docker-compose podman ", s.name()) {
				break // theirs stands behind the name of a container
			}
		}
	}
	return false
}

// testVerb reports whether a word orders a test run: test, tests, test:unit,
// unit:test, test-race, app:test, check.
func testVerb(w string) bool {
	return w == "test" || w == "tests" || w == "check" || w == "e2e" || strings.HasPrefix(w, "test:") || strings.HasSuffix(w, ":test") ||
		strings.HasPrefix(w, "test-") || strings.HasSuffix(w, "-test") || strings.HasSuffix(w, "-tests")
}

// testFile reports whether a file's name says that it runs tests: test.sh,
// run-tests.py, test_cart.py.
func testFile(name string) bool {
	name = strings.ToLower(name)
	for _, lead := range []string{"run-", "run_", "run"} {
		name = strings.TrimPrefix(name, lead)
	}
	rest, ok := strings.CutPrefix(name, "tests")
	if !ok {
		rest, ok = strings.CutPrefix(name, "test")
	}
	return ok && (rest == "" || strings.ContainsRune("._-", rune(rest[0])))
}

func base(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }
