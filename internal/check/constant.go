package check

import (
	"go/ast"
	"go/token"
)

// constantBool evaluates what can be seen to be always true or always false.
func constantBool(x ast.Expr) (value, constant bool) {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name == "true", x.Name == "true" || x.Name == "false"
	case *ast.ParenExpr:
		return constantBool(x.X)
	case *ast.UnaryExpr:
		value, constant = constantBool(x.X)
		return !value, constant && x.Op == token.NOT
	case *ast.BinaryExpr:
		return constantBinary(x)
	}
	return false, false
}

func constantBinary(x *ast.BinaryExpr) (value, constant bool) {
	if x.Op == token.LAND || x.Op == token.LOR {
		left, leftKnown := constantBool(x.X)
		right, rightKnown := constantBool(x.Y)
		decides := x.Op == token.LOR // the value that settles it alone
		switch {
		case leftKnown && left == decides, rightKnown && right == decides:
			return decides, true
		}
		return !decides, leftKnown && rightKnown
	}
	if x.Op != token.EQL && x.Op != token.NEQ {
		return false, false
	}
	equal, known := sameOperand(x.X, x.Y)
	return equal == (x.Op == token.EQL), known
}

// sameOperand compares two names or two literals; anything else is not known.
func sameOperand(a, b ast.Expr) (equal, known bool) {
	switch a := a.(type) {
	case *ast.Ident:
		b, ok := b.(*ast.Ident)
		return true, ok && a.Name == b.Name
	case *ast.BasicLit:
		b, ok := b.(*ast.BasicLit)
		return ok && a.Value == b.Value, ok && a.Kind == b.Kind
	}
	return false, false
}
