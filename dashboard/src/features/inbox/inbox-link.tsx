import { ActionIcon, Indicator } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { unreadQuery } from './queries'
import { count } from '../../format/figures'

const maxCount = 99

const Bell = () => (
  <svg
    width="20"
    height="20"
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.8"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden
  >
    <path d="M6 9.5a6 6 0 0 1 12 0c0 5 2 6.5 2 6.5H4s2-1.5 2-6.5" />
    <path d="M10 19.5a2.2 2.2 0 0 0 4 0" />
  </svg>
)

/** A link to the inbox with the number of unread notifications. */
export function InboxLink() {
  const { data: unread = 0 } = useQuery(unreadQuery)
  const label = unread === 0 ? 'Inbox' : `Inbox, ${count(unread)} unread`
  return (
    <Indicator
      disabled={unread === 0}
      label={unread > maxCount ? `${maxCount}+` : unread}
      size={16}
      offset={7}
    >
      <ActionIcon
        variant="subtle"
        size="lg"
        aria-label={label}
        title={label}
        renderRoot={(props) => <Link to="/inbox" {...props} />}
      >
        <Bell />
      </ActionIcon>
    </Indicator>
  )
}
