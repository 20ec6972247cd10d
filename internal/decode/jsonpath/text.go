package jsonpath

import (
	"strconv"
	"strings"
)

// Text is the path of steps by name, by index and to all, as [Parse] reads it.
func Text(steps []Step) string {
	var out strings.Builder
	out.WriteByte('$')
	for i := range steps {
		switch s := steps[i].selector; s.kind {
		case selectName:
			writeName(&out, s.name)
		case selectIndex:
			out.WriteString("[" + strconv.FormatInt(s.index, 10) + "]")
		default:
			out.WriteString("[*]")
		}
	}
	return out.String()
}

// writeName writes the step to a member, with a dot where its name allows that.
func writeName(out *strings.Builder, name string) {
	for i, r := range name {
		if r != '_' && r < 0x80 && !('a' <= r|0x20 && r|0x20 <= 'z') && !(i > 0 && '0' <= r && r <= '9') {
			quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`).Replace(name)
			out.WriteString("['" + quoted + "']")
			return
		}
	}
	if name == "" {
		out.WriteString("['']")
		return
	}
	out.WriteString("." + name)
}
