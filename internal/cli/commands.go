package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands lists every command, explicitly, by the groups of the help.
func (a *App) commands() []*cobra.Command {
	return []*cobra.Command{
		a.startCommand(), a.runCommand(), a.takeCommand(), a.adoptCommand(), a.amendCommand(), a.answerCommand(),
		a.decideCommand(), a.raiseCommand(), a.settleCommand(), a.deadEndCommand(),
		a.pauseCommand(), a.resumeCommand(), a.handoverCommand(), a.safePointCommand(), a.restoreCommand(),
		a.checkCommand(), a.finishCommand(), a.acceptCommand(), a.abandonCommand(), a.removeCommand(),
		a.jobsCommand(), a.showCommand(), a.logCommand(), a.recallCommand(), a.briefCommand(), a.costCommand(), a.lessonsCommand(), a.verifyCommand(),
		a.configCommand(), a.setupCommand(), a.doctorCommand(), a.uninstallCommand(), a.onCommand(), a.offCommand(), a.demoCommand(), a.hookCommand(), a.mcpCommand(), a.scriptCommand(), a.completionCommand(), a.versionCommand(),
	}
}

// hookCommand is here for help and completion only: Main runs it before any tree
// is built.
func (a *App) hookCommand() *cobra.Command {
	return &cobra.Command{Use: "hook AGENT", Short: "Answer one hook call of an agent", GroupID: "set",
		Long: strings.TrimPrefix(hookHelp, "Usage: duplex hook AGENT\n\n"), Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { a.hook(cmd.Context(), args); return nil }}
}

// completionCommand prints a completion script.
func (a *App) completionCommand() *cobra.Command {
	return &cobra.Command{Use: "completion bash|zsh|fish|powershell", Short: "Print a completion script for a shell", GroupID: "set",
		Example: "  duplex completion bash > /etc/bash_completion.d/duplex\n  duplex completion zsh > \"${fpath[1]}/_duplex\"",
		Args:    cobra.ExactArgs(1), ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(a.Out, true)
			case "zsh":
				return root.GenZshCompletion(a.Out)
			case "fish":
				return root.GenFishCompletion(a.Out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.Out)
			}
			return usagef("no completion for %q; the shells are bash, zsh, fish, powershell", args[0])
		}}
}
