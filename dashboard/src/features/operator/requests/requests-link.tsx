import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'

/** Links to the requests of an account. */
export const RequestsLink = ({ id }: { id: string }) => (
  <Anchor
    size="sm"
    renderRoot={(props) => (
      <Link to="/operator/requests" search={{ user: id, range: 'week' }} {...props} />
    )}
  >
    View requests
  </Anchor>
)
