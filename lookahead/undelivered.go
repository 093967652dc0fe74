package lookahead

// Undelivered visits the messages that a run left in mailboxes because it was
// cut short, process by process in the order of their stamps, and takes them
// out. m is valid during the call. It is to be called after Run.
func (s *Simulation) Undelivered(visit func(to ProcessID, m *Message)) error {
	for _, n := range s.all() {
		n.stock = &s.crew.stocks[0]
		n.mailbox.absorb()
		for f := n.mailbox.top(); f != nil; f = n.mailbox.top() {
			end, err := skipFields(f.buf, f.head.body, f.head.fields)
			if err != nil {
				return err
			}
			n.message = Message{Stamp: f.head.stamp, Kind: f.head.kind, Body: Decoder{buf: f.buf[:end], pos: f.head.body, left: f.head.fields}}
			visit(n.id, &n.message)
			n.mailbox.advance(f, end)
		}
	}
	return nil
}
