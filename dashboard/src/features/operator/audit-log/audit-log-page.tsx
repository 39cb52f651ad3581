import { toRows } from '../../../api/paging'
import { ResourceList } from '../../../components/resource-list'
import { Anchor, Button, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { actionOf } from './action-names'
import { ChangeDrawer } from './change-drawer'
import { ActorSelect } from '../../../components/actor-select'
import { DayInputs } from '../../../components/day-inputs'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { ListTable } from '../../../components/list-table'
import { Page } from '../../../components/page'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import {
  aboutOf,
  actorOf,
  downloadOf,
  kindNames,
  objectNameOf,
  operatorKey,
  othersOf,
  trailQuery,
  type Change,
  type TrailSearch,
} from './queries'
import { operatorsQuery } from '../users/queries'

const route = getRouteApi('/home/operator/audit-trail')

export function AuditTrailPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const query = useInfiniteQuery(trailQuery(search))
  const change = (changed: TrailSearch) =>
    void navigate({ search: (now) => ({ ...now, ...changed }), replace: true })
  return (
    <Page
      title="Audit log"
      about="All changes made by operators, newest first. Entries cannot be edited or deleted."
      actions={
        <Button
          component="a"
          variant="default"
          href={downloadOf(search)}
          download="audit-log.jsonl"
        >
          Download
        </Button>
      }
    >
      <TrailFilters search={search} onChange={change} />
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ changes }) => changes)}
        plural="changes"
        empty={{
          title: 'No changes yet',
          text: 'Changes made by operators, here or through the operator API, appear here.',
        }}
        isFiltered={Object.values({ ...search, open: undefined }).some(Boolean)}
      >
        {(changes) => <ChangeTable changes={changes} />}
      </ResourceList>
      {search.open !== undefined && (
        <ChangeDrawer
          request={search.open}
          onClose={() => change({ open: undefined })}
          onFilter={(filter) => change({ ...filter, open: undefined })}
        />
      )}
    </Page>
  )
}

interface FiltersProps {
  search: TrailSearch
  onChange: (changed: TrailSearch) => void
}

function TrailFilters({ search, onChange }: FiltersProps) {
  const { data: operators = [] } = useQuery(operatorsQuery)
  const actors = [
    { value: operatorKey, label: 'Operator key' },
    ...operators.map(({ id, display_name: name }) => ({ value: id, label: name })),
  ]
  return (
    <Filters>
      <SearchBox
        label="Search"
        placeholder="Route, IP address, request or text"
        value={search.search}
        onSearch={(text) => onChange({ search: text })}
      />
      <ActorSelect actors={actors} value={search.actor} onChange={(actor) => onChange({ actor })} />
      <FilterSelect
        label="Object"
        isLabelled
        all="All objects"
        names={kindNames}
        value={search.kind}
        onChange={(kind) => onChange({ kind })}
      />
      <SearchBox
        label="ID"
        placeholder="user_…, plan_…, org_…"
        value={search.object}
        onSearch={(object) => onChange({ object })}
      />
      <DayInputs days={search} onChange={onChange} />
    </Filters>
  )
}

const ChangeTable = ({ changes }: { changes: readonly Change[] }) => (
  <ListTable
    columns={[
      'Time',
      'Actor',
      { name: 'Action', position: 'title' },
      { name: 'Object', position: 'wide' },
    ]}
    minWidth={760}
  >
    {changes.map((change) => (
      <ChangeRow key={change.id} change={change} />
    ))}
  </ListTable>
)

/** The kind of the object below its name, what else the change concerns, and the id of an object without a name. */
const secondaryOf = (change: Change) =>
  [
    objectNameOf(change) === undefined ? change.object_id : aboutOf(change),
    ...othersOf(change).map((name) => `of ${name}`),
  ]
    .filter(Boolean)
    .join(', ')

const ChangeRow = ({ change }: { change: Change }) => (
  <Table.Tr>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <When at={change.created_at} />
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{actorOf(change)}</Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            from="/operator/audit-trail"
            to="."
            search={(now) => ({ ...now, open: change.request_id })}
            resetScroll={false}
            {...props}
          />
        )}
      >
        {actionOf(change)}
      </Anchor>
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{objectNameOf(change) ?? aboutOf(change)}</Text>
      <Text size="xs" c="dimmed">
        {secondaryOf(change)}
      </Text>
    </Table.Td>
  </Table.Tr>
)
