import { Anchor, Badge, Button, Modal, Select, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Filters } from '../components/filters'
import { ListTable } from '../components/list-table'
import { allTalksQuery, talkColors, talkStatuses, type Talk } from '../automation'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { Moment } from '../components/moment'
import { Money } from '../components/money'
import { Page } from '../components/page'
import { ShowMore } from '../components/show-more'
import { compact, count } from '../figures'
import { oneOf } from '../search'
import { NewSession } from './new-session'
import { SessionDrawer } from './session-drawer'

const route = getRouteApi('/home/sessions')

const statusChoices = talkStatuses.map((value) => ({ value, label: value }))

/** Stored conversations of the playground and of API clients. */
export function SessionsPage() {
  const search = route.useSearch()
  const status = oneOf(search, 'status', talkStatuses)
  const navigate = route.useNavigate()
  const query = useInfiniteQuery(allTalksQuery(status))
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
      <Loaded query={query}>
        {({ pages }) => {
          const talks = pages.flatMap(({ sessions }) => sessions)
          if (talks.length === 0) return <Nothing isFiltered={status !== undefined} />
          return (
            <Stack gap="sm">
              <SessionTable talks={talks} />
              <ShowMore
                shown={talks.length}
                total={pages[0]?.pagination.total ?? 0}
                of="sessions"
                query={query}
              />
            </Stack>
          )
        }}
      </Loaded>
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

const Nothing = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No results">No sessions match this filter.</Empty>
  ) : (
    <Empty
      title="No sessions yet"
      action={
        <Anchor size="sm" renderRoot={(props) => <Link to="/playground" {...props} />}>
          Open playground
        </Anchor>
      }
    >
      Conversations of the playground and of clients of the automation API appear here.
    </Empty>
  )

const SessionTable = ({ talks }: { talks: readonly Talk[] }) => (
  <ListTable
    columns={[
      'Session',
      { name: 'Status', place: 'aside' },
      { name: 'Messages', isNumber: true },
      { name: 'Tokens', isNumber: true },
      { name: 'Cost', isNumber: true },
      'Last used',
    ]}
    minWidth={720}
  >
    {talks.map((talk) => (
      <SessionRow key={talk.id} talk={talk} />
    ))}
  </ListTable>
)

const SessionRow = ({ talk: { id, totalTokens: tokens, ...talk } }: { talk: Talk }) => (
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
        {talk.name || 'Untitled'}
      </Anchor>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {talk.modelId}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={talkColors[talk.status]} variant="light">
        {talk.status}
      </Badge>
    </Table.Td>
    <Table.Td ta="right">{count(talk.messageCount)}</Table.Td>
    <Table.Td ta="right" title={`${count(tokens.input)} in, ${count(tokens.output)} out`}>
      {compact(tokens.input + tokens.output)}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={talk.totalCost} />
    </Table.Td>
    <Table.Td>
      <Moment at={talk.lastActivityAt ?? talk.createdAt} />
    </Table.Td>
  </Table.Tr>
)
