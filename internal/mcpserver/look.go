package mcpserver

import (
	"context"
	"fmt"

	"github.com/seed-5777983b/duplex/internal/tracker"
)

// brief is what the next session would start from.
func brief(ctx context.Context, c *call, in struct {
	Job     string `json:"job,omitempty" says:"the job's short name; without it, the one of this session or folder"`
	Section string `json:"section,omitempty" says:"one section, whole" one:"goal|instruction|decisions|dead-ends|open|done|workspace|working-set|lessons|claim"`
	From    int    `json:"from,omitempty" says:"where to go on in a text that was too long: the number its last line gave"`
}) (answer, error) {
	id, err := c.find(ctx, in.Job)
	if err != nil {
		return answer{}, err
	}
	b, err := c.Brief(ctx, id, tracker.BriefRequest{Section: in.Section})
	if err != nil {
		return answer{}, err
	}
	return paged(b.Short, b.Position, b.Text, in.From, func(from int) string {
		call := fmt.Sprintf(`brief with "job": %q, "from": %d`, b.Short, from)
		if in.Section != "" {
			call += fmt.Sprintf(`, "section": %q`, in.Section)
		}
		return call
	}), nil
}
