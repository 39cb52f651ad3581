import { Badge, Group, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ConnectionActions } from './connection-actions'
import { ConnectionForm } from './connection-form'
import { Filters } from '../../../components/filters'
import { Moment } from '../../../components/moment'
import { Page } from '../../../components/page'
import { Permitted, PermittedButton } from '../../../components/permitted'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { count, formatCount } from '../../../format/figures'
import { ClientCertificateWarning } from '../../connections/certificates'
import { platformConnectionsQuery, type PlatformConnection } from './queries'
import { statusColors } from '../../connections/queries'

const route = getRouteApi('/home/operator/connections')
const columns = [
  'Name',
  'Provider',
  'Key',
  'Status',
  { name: 'Priority', isNumber: true },
  'Limits',
  'Last tested',
  { name: 'Actions', isHidden: true },
] as const
/** The source of a connection that cannot be edited here. */
const sources = {
  environment: 'environment',
  discovered: 'this machine',
  built_in: 'built in',
} as const
export function PlatformConnectionsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, { open, close }] = useDisclosure()
  return (
    <Page
      title="Platform connections"
      about="Provider keys that serve all accounts without a connection of their own. Requests are paid from the calling account's credits."
      actions={
        <PermittedButton to="POST /api/admin/connections" label="Add connection" onClick={open} />
      }
    >
      <Filters>
        <SearchBox
          aria-label="Search connections"
          placeholder="Name or provider"
          value={search.search}
          onSearch={(text) => void navigate({ search: { search: text }, replace: true })}
        />
      </Filters>
      <ResourceList
        rows={(list) => list}
        query={useQuery(platformConnectionsQuery(search))}
        plural="connections"
        empty={{
          title: 'No connections yet',
          text: 'Add a provider key to serve its models. Keys are stored encrypted and never shown again.',
        }}
        isFiltered={search.search !== undefined}
        paging={{
          page: search.page ?? 1,
          onPage: (page) => void navigate({ search: (now) => ({ ...now, page }) }),
        }}
      >
        {(connections) => (
          <ListTable columns={columns} minWidth={980}>
            {connections.map((connection) => (
              <Row key={connection.id} connection={connection} />
            ))}
          </ListTable>
        )}
      </ResourceList>
      <Modal opened={isOpen} onClose={close} title="Add connection" size="lg">
        <ConnectionForm onClose={close} />
      </Modal>
    </Page>
  )
}

const Row = ({ connection: one }: { connection: PlatformConnection }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Group gap={6}>
        <Text size="sm" fw={500}>
          {one.name}
        </Text>
        {one.is_default && (
          <Badge variant="outline" size="sm">
            default
          </Badge>
        )}
        {one.source !== 'stored' && (
          <Badge variant="outline" color="gray" size="sm">
            {sources[one.source]}
          </Badge>
        )}
        <ClientCertificateWarning network={one.network} />
      </Group>
      {one.endpoint_url && (
        <Text size="xs" c="dimmed">
          {one.endpoint_url}
        </Text>
      )}
    </Table.Td>
    <Table.Td>{one.provider}</Table.Td>
    <Table.Td ff="monospace">{one.api_key_prefix ? `${one.api_key_prefix}…` : '–'}</Table.Td>
    <Table.Td>
      <Badge color={statusColors[one.status]} variant="light">
        {one.status}
      </Badge>
      {one.last_error && (
        <Text size="xs" c="var(--mantine-color-error)" maw={260}>
          {one.last_error}
        </Text>
      )}
    </Table.Td>
    <Table.Td ta="right">{count(one.priority)}</Table.Td>
    <Table.Td>{limitsOf(one)}</Table.Td>
    <Table.Td>
      <Moment at={one.last_tested_at} fallback={one.source === 'stored' ? 'never' : '–'} />
    </Table.Td>
    <Table.Td>
      <Permitted to="PUT /api/admin/connections/{id}">
        <ConnectionActions connection={one} />
      </Permitted>
    </Table.Td>
  </Table.Tr>
)

function limitsOf({ rate_limits: limits }: PlatformConnection): string {
  const limitLabels = [
    ...(limits?.rpm ? [formatCount(limits.rpm, 'request')] : []),
    ...(limits?.tpm ? [formatCount(limits.tpm, 'token')] : []),
    ...(limits?.images_per_minute ? [formatCount(limits.images_per_minute, 'image')] : []),
    ...(limits?.audio_seconds_per_minute
      ? [`${formatCount(limits.audio_seconds_per_minute, 'second')} of sound`]
      : []),
  ]
  return limitLabels.length > 0 ? `${limitLabels.join(', ')} per minute` : 'none'
}
