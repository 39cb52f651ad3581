import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Permitted } from '../../../components/permitted'

/** Links to the audit log entries of operators about an account. */
export const ChangesLink = ({ id }: { id: string }) => (
  <Permitted to="GET /api/admin/audit-trail">
    <Anchor
      size="sm"
      renderRoot={(props) => <Link to="/operator/audit-trail" search={{ object: id }} {...props} />}
    >
      View audit log
    </Anchor>
  </Permitted>
)
