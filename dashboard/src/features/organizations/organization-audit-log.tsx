import { toRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { Button, Code, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { ActorSelect } from '../../components/actor-select'
import { DayInputs } from '../../components/day-inputs'
import { FilterSelect } from '../../components/filter-select'
import { Filters } from '../../components/filters'
import { ListTable } from '../../components/list-table'
import { When } from '../../components/when'
import {
  actorOf,
  actionOf,
  differencesOf,
  downloadOf,
  kindNames,
  others,
  trailQuery,
  channelOf,
  type Change,
  type Difference,
  type TrailSearch,
} from './audit-log-queries'
import { allMembersQuery } from './queries'
import { AuditDestinations } from '../audit-destinations/audit-destinations'
import { plainName } from '../../format/plain-name'

interface Props {
  /** The id of the organization. */
  id: string
  search: TrailSearch
  onChange: (changed: TrailSearch) => void
}

/** The audit log of an organization; visible to managers. */
export function OrganizationTrail({ id, search, onChange }: Props) {
  const query = useInfiniteQuery(trailQuery(id, search))
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        All changes, newest first. Entries cannot be edited, and are deleted after their retention.
      </Text>
      <TrailFilters id={id} search={search} onChange={onChange} />
      <div>
        <Button
          component="a"
          variant="default"
          href={downloadOf(id, search)}
          download="audit-log.jsonl"
        >
          Download
        </Button>
      </div>
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ changes }) => changes)}
        plural="changes"
        empty={{ title: 'No changes yet', text: 'Changes to the organization appear here.' }}
        isFiltered
      >
        {(changes) => <ChangeTable changes={changes} />}
      </ResourceList>
      <AuditDestinations
        organizationId={id}
        about="Each gets every entry of this audit log from its creation on."
      />
    </Stack>
  )
}

function TrailFilters({ id, search, onChange }: Props) {
  const { data: members = [] } = useQuery(allMembersQuery(id))
  const actors = [
    ...members.map((one) => ({ value: one.user_id, label: one.email ?? one.display_name })),
    ...Object.entries(others).map(([value, label]) => ({ value, label })),
  ]
  return (
    <Filters>
      <ActorSelect actors={actors} value={search.who} onChange={(who) => onChange({ who })} />
      <FilterSelect
        label="Object"
        isLabelled
        all="All objects"
        names={kindNames}
        value={search.kind}
        onChange={(kind) => onChange({ kind })}
      />
      <DayInputs days={search} onChange={onChange} />
    </Filters>
  )
}

const ChangeTable = ({ changes }: { changes: readonly Change[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Action', position: 'title' },
      { name: 'Actor', position: 'wide' },
      { name: 'Changes', position: 'wide' },
    ]}
    minWidth={760}
  >
    {changes.map((change) => (
      <ChangeRow key={change.id} change={change} />
    ))}
  </ListTable>
)

const ChangeRow = ({ change }: { change: Change }) => (
  <Table.Tr style={{ verticalAlign: 'top' }}>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <When at={change.created_at} />
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm" fw={500}>
        {actionOf(change)}
      </Text>
      <Text size="xs" c="dimmed" title={change.object_id}>
        {change.object_name ?? change.object_id}
      </Text>
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{actorOf(change)}</Text>
      <Text size="xs" c="dimmed" title={change.key_id ?? ''}>
        {channelOf(change)}
      </Text>
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Stack gap={2}>
        {differencesOf(change).map((difference) => (
          <DifferenceLine key={difference.name} difference={difference} />
        ))}
      </Stack>
    </Table.Td>
  </Table.Tr>
)

const DifferenceLine = ({ difference: { name, before, after } }: { difference: Difference }) => (
  <Text size="xs" lineClamp={4}>
    <Text span inherit c="dimmed">
      {plainName(name)}:
    </Text>{' '}
    {before !== undefined && after === undefined && <s>{before}</s>}
    {before !== undefined && after !== undefined && `${before} → `}
    {after !== undefined && <Code fz="inherit">{after}</Code>}
  </Text>
)
