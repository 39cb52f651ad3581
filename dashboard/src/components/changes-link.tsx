import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** Leads to what operators changed of an account, in the audit trail. */
export const ChangesLink = ({ id }: { id: string }) => (
  <Anchor
    size="sm"
    renderRoot={(props) => <Link to="/operator/audit-trail" search={{ object: id }} {...props} />}
  >
    What operators changed
  </Anchor>
)
