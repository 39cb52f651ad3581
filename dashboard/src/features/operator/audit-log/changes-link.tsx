import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** Links to the audit log entries of operators about an account. */
export const ChangesLink = ({ id }: { id: string }) => (
  <Anchor
    size="sm"
    renderRoot={(props) => <Link to="/operator/audit-trail" search={{ object: id }} {...props} />}
  >
    View audit log
  </Anchor>
)
