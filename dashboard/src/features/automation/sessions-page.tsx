import { toRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { Anchor, Badge, Button, Modal, Select, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Filters } from '../../components/filters'
import { ListTable } from '../../components/list-table'
import { allChatsQuery, chatColors, chatStatuses, type Chat } from './queries'
import { Moment } from '../../components/moment'
import { Money } from '../../components/money'
import { Page } from '../../components/page'
import { compact, count } from '../../format/figures'
import { oneOf } from '../../url/search'
import { NewSession } from './new-session'
import { SessionDrawer } from './session-drawer'

const route = getRouteApi('/home/sessions')

const statusChoices = chatStatuses.map((value) => ({ value, label: value }))

/** Stored conversations of the playground and of API clients. */
export function SessionsPage() {
  const search = route.useSearch()
  const status = oneOf(search, 'status', chatStatuses)
  const navigate = route.useNavigate()
  const query = useInfiniteQuery(allChatsQuery(status))
  const [isBeginning, beginning] = useDisclosure()
  const change = (changed: typeof search) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <Page
      title="Sessions"
      about="Stored conversations of the playground and of your clients."
      actions={<Button onClick={beginning.open}>New session</Button>}
    >
      <Filters>
        <Select
          aria-label="Status"
          placeholder="All statuses"
          clearable
          data={statusChoices}
          value={status ?? null}
          onChange={(value) => change({ status: value ?? undefined })}
        />
      </Filters>
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ sessions }) => sessions)}
        plural="sessions"
        empty={noSessions}
        isFiltered={status !== undefined}
      >
        {(sessions) => <SessionTable chats={sessions} />}
      </ResourceList>
      <Modal opened={isBeginning} onClose={beginning.close} title="New session">
        <NewSession onCancel={beginning.close} />
      </Modal>
      {search.open !== undefined && (
        <SessionDrawer
          key={search.open}
          id={search.open}
          onClose={() => change({ open: undefined })}
        />
      )}
    </Page>
  )
}

const noSessions = {
  title: 'No sessions yet',
  text: 'Conversations of the playground and of clients of the automation API appear here.',
  action: (
    <Anchor size="sm" renderRoot={(props) => <Link to="/playground" {...props} />}>
      Open playground
    </Anchor>
  ),
}

const SessionTable = ({ chats }: { chats: readonly Chat[] }) => (
  <ListTable
    columns={[
      'Session',
      { name: 'Status', position: 'aside' },
      { name: 'Messages', isNumber: true },
      { name: 'Tokens', isNumber: true },
      { name: 'Cost', isNumber: true },
      'Last used',
    ]}
    minWidth={720}
  >
    {chats.map((chat) => (
      <SessionRow key={chat.id} chat={chat} />
    ))}
  </ListTable>
)

const SessionRow = ({ chat: { id, totalTokens: tokens, ...chat } }: { chat: Chat }) => (
  <Table.Tr>
    <Table.Td maw={340}>
      <Anchor
        fw={500}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
        renderRoot={(props) => (
          <Link
            from="/sessions"
            to="."
            search={(before) => ({ ...before, open: id })}
            resetScroll={false}
            {...props}
          />
        )}
      >
        {chat.name || 'Untitled'}
      </Anchor>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {chat.modelId}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={chatColors[chat.status]} variant="light">
        {chat.status}
      </Badge>
    </Table.Td>
    <Table.Td ta="right">{count(chat.messageCount)}</Table.Td>
    <Table.Td ta="right" title={`${count(tokens.input)} in, ${count(tokens.output)} out`}>
      {compact(tokens.input + tokens.output)}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={chat.totalCost} />
    </Table.Td>
    <Table.Td>
      <Moment at={chat.lastActivityAt ?? chat.createdAt} />
    </Table.Td>
  </Table.Tr>
)
