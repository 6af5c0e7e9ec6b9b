package spool

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The test binary is also the processes that are killed: DUPLEX_SPOOL_CHILD says which.
func TestMain(m *testing.M) {
	switch os.Getenv("DUPLEX_SPOOL_CHILD") {
	case "append":
		appendForever(os.Args[1], os.Args[2])
	case "drain":
		drainForever(os.Args[1], os.Args[2])
	default:
		os.Exit(m.Run())
	}
}

// appendForever says each line's name once the line is acknowledged.
func appendForever(dir, name string) {
	for i := 0; ; i++ {
		line := fmt.Sprintf("%s/%d", name, i)
		if err := add(dir, []byte(line)); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(line)
	}
}

// drainForever writes what is delivered to a file before it takes delivery, as a store does, and says so.
func drainForever(dir, delivered string) {
	f, err := os.OpenFile(delivered, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	for {
		_, err := Drain(dir, 4, alone(func(line []byte) error {
			_, err := fmt.Fprintf(f, "\n%s\n", line)
			fmt.Println("delivered")
			return err
		}))
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
	}
}

// TestKilled: appenders and drainers are killed with -9 at random moments, again and again. Every line whose
// append returned arrives.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir, delivered := filepath.Join(t.TempDir(), "spool"), filepath.Join(t.TempDir(), "delivered")
	random := rand.New(rand.NewPCG(1, 2))
	kills := int(24 * scale(t))
	acknowledged := make(chan []string)
	slot := func(kind, argument string, rounds []int) {
		var all []string
		for round, lines := range rounds {
			all = append(all, untilKilled(t, kind, dir, strings.ReplaceAll(argument, "ROUND", strconv.Itoa(round)), lines)...)
		}
		acknowledged <- all
	}
	const slots = 4
	for i := range slots {
		var rounds []int
		for range max(1, kills/slots) {
			rounds = append(rounds, 1+random.IntN(60))
		}
		if i == 0 {
			go slot("drain", delivered, rounds)
		} else {
			go slot("append", fmt.Sprintf("%d.ROUND", i), rounds)
		}
	}
	var want []string
	for range slots {
		want = append(want, <-acknowledged...)
	}
	got := map[string]bool{}
	if content, err := os.ReadFile(delivered); err == nil {
		for line := range strings.Lines(string(content)) {
			got[strings.TrimSpace(line)] = true
		}
	}
	rest, report := drainAll(t, dir)
	for _, line := range rest {
		got[line] = true
	}
	lost := 0
	for _, line := range want {
		if line != "delivered" && !got[line] {
			lost++
			t.Errorf("acknowledged and lost: %s", line)
		}
	}
	t.Logf("%d acknowledged, %d lost, %d left for the last drain, %d torn in it", len(want), lost, len(rest), report.Torn)
}

// untilKilled runs a child until it has said some lines, kills it at whatever it does then, and returns all
// that it said.
func untilKilled(t *testing.T, kind, dir, argument string, lines int) []string {
	cmd := exec.Command(os.Args[0], dir, argument)
	cmd.Env = append(os.Environ(), "DUPLEX_SPOOL_CHILD="+kind)
	output, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	var said []string
	scanner := bufio.NewScanner(output)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), "error") {
			t.Error(scanner.Text())
		}
		said = append(said, scanner.Text())
		if len(said) == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	_ = cmd.Wait() // it was killed
	return said
}

func scale(t *testing.T) float64 {
	text := os.Getenv("DUPLEX_SCALE")
	if text == "" {
		return 1
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("DUPLEX_SCALE: %v", err)
	}
	return value
}
