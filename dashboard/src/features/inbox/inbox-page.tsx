import { toRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { api } from '../../api/client'
import { Anchor, Badge, Button, Group, Paper, Select, Switch, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useRouter } from '@tanstack/react-router'
import type { MouseEvent } from 'react'
import { ownPath } from '../../url/address'
import { Filters } from '../../components/filters'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { When } from '../../components/when'
import {
  inboxQuery,
  noticeKinds,
  unreadQuery,
  type InboxSearch,
  type Notice,
  type NoticeKind,
} from './queries'
import { oneOf } from '../../url/search'
import { useSubmit } from '../../components/use-submit'

const route = getRouteApi('/home/inbox')

const kindNames: Readonly<Record<NoticeKind, string>> = {
  alert: 'Alert',
  alert_test: 'Alert test',
  low_balance: 'Low balance',
  budget: 'Budget',
  key_expiring: 'API key',
  connection_failing: 'Connection',
  quota_request: 'Limits',
  ticket_reply: 'Support',
  invitation: 'Invitation',
  system: 'Service',
}

const kindChoices = noticeKinds.map((value) => ({ value, label: kindNames[value] }))

export function InboxPage() {
  const search = route.useSearch()
  const query = useInfiniteQuery(inboxQuery(search))
  const queries = useQueryClient()
  const { data: unread = 0 } = useQuery(unreadQuery)
  const reading = useSubmit(async (id: string | undefined) => {
    await (id === undefined
      ? api.POST('/api/account/notifications/read-all')
      : api.POST('/api/account/notifications/{id}/read', { params: { path: { id } } }))
    await queries.invalidateQueries({ queryKey: ['inbox'] })
  })
  return (
    <Page
      title="Inbox"
      about="Notifications of the last 90 days."
      actions={
        unread > 0 && (
          <Button
            variant="default"
            loading={reading.isBusy}
            onClick={() => void reading.submit(undefined)}
          >
            Mark all as read
          </Button>
        )
      }
    >
      <InboxFilters search={search} />
      <Problem error={reading.error} />
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ notifications }) => notifications)}
        plural="notifications"
        empty={noNoticesText(search)}
        isFiltered={false}
      >
        {(notices) =>
          notices.map((notice) => (
            <NoticeCard
              key={notice.id}
              notice={notice}
              onRead={() => void reading.submit(notice.id)}
            />
          ))
        }
      </ResourceList>
    </Page>
  )
}

function InboxFilters({ search: { unread, kind } }: { search: InboxSearch }) {
  const navigate = route.useNavigate()
  const change = (changed: InboxSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <Filters>
      <Switch
        label="Unread only"
        checked={unread === true}
        onChange={(event) => change({ unread: event.currentTarget.checked || undefined })}
      />
      <Select
        aria-label="Type"
        placeholder="All types"
        clearable
        data={kindChoices}
        value={kind ?? null}
        onChange={(value) => change({ kind: oneOf({ value }, 'value', noticeKinds) })}
      />
    </Filters>
  )
}

function noNoticesText({ unread, kind }: InboxSearch): { title: string; text: string } {
  if (unread) return { title: 'No unread notifications', text: 'You are all caught up.' }
  if (kind !== undefined) {
    return {
      title: 'No notifications of this type',
      text: 'Clear the filter to see other notifications.',
    }
  }
  return {
    title: 'No notifications yet',
    text: 'Alerts, support replies, invitations and balance warnings appear here.',
  }
}

function NoticeCard({ notice, onRead }: { notice: Notice; onRead: () => void }) {
  const isUnread = notice.read_at === null
  return (
    <Paper withBorder p="md" component="article" aria-label={notice.title}>
      <Group justify="space-between" align="flex-start" gap="xs">
        <Group gap="xs">
          <Badge variant="light" color={isUnread ? 'brand' : 'gray'}>
            {kindNames[notice.kind]}
          </Badge>
          {isUnread && <Badge>new</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          <When at={notice.created_at} />
        </Text>
      </Group>
      <Text fw={isUnread ? 600 : 400} mt="xs" style={{ overflowWrap: 'anywhere' }}>
        {notice.title}
      </Text>
      <Text size="sm" style={{ whiteSpace: 'pre-line', overflowWrap: 'anywhere' }}>
        {notice.body}
      </Text>
      <Group gap="md" mt="xs">
        <Leads notice={notice} onFollow={isUnread ? onRead : undefined} />
        {isUnread && (
          <Button size="compact-sm" variant="subtle" onClick={onRead}>
            Mark as read
          </Button>
        )}
      </Group>
    </Paper>
  )
}

const isPlain = (event: MouseEvent) =>
  event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey

interface LeadsProps {
  notice: Notice
  onFollow: (() => void) | undefined
}

/** Links to the subject of a notification; following it marks the notification as read. */
function Leads({ notice, onFollow }: LeadsProps) {
  const router = useRouter()
  const page = ownPath(notice.link)
  if (page === undefined) return undefined
  return (
    <Anchor
      size="sm"
      href={page}
      aria-label={`Open: ${notice.title}`}
      onClick={(event) => {
        onFollow?.()
        if (!isPlain(event)) return
        event.preventDefault()
        router.history.push(page)
      }}
    >
      Open
    </Anchor>
  )
}
