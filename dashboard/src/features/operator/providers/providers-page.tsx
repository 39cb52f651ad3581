import { Badge, Menu, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ProviderForm } from './provider-form'
import { api } from '../../../api/client'
import { Confirm } from '../../../components/confirm'
import { Filters } from '../../../components/filters'
import { Page } from '../../../components/page'
import { Permitted, PermittedButton } from '../../../components/permitted'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { RowMenu } from '../../../components/row-menu'
import { providersQuery, type Provider } from './queries'
import { useRefresh } from '../refresh'

const route = getRouteApi('/home/operator/providers')

export function ProvidersPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, { open, close }] = useDisclosure()
  const add = <PermittedButton to="POST /api/admin/providers" label="New provider" onClick={open} />
  return (
    <Page
      title="Providers"
      about="Providers that you added, then built-in providers, which only need a connection."
      actions={add}
    >
      <Filters>
        <SearchBox
          aria-label="Search providers"
          placeholder="Key or name"
          value={search.search}
          onSearch={(text) => void navigate({ search: { search: text }, replace: true })}
        />
      </Filters>
      <ResourceList
        rows={(list) => list}
        query={useQuery(providersQuery(search))}
        plural="providers"
        empty={{
          title: 'No providers yet',
          text: 'Add a provider that is not built in, or your own server, then a connection to it and its models.',
        }}
        isFiltered={search.search !== undefined}
        paging={{
          page: search.page ?? 1,
          onPage: (page) => void navigate({ search: (now) => ({ ...now, page }) }),
        }}
      >
        {(providers) => (
          <ListTable
            columns={[
              'Provider',
              'API format',
              { name: 'Base URL', position: 'wide' },
              'Status',
              'Created',
              { name: 'Actions', isHidden: true },
            ]}
            minWidth={860}
          >
            {providers.map((provider) => (
              <Row key={provider.id} provider={provider} />
            ))}
          </ListTable>
        )}
      </ResourceList>
      <Modal opened={isOpen} onClose={close} title="New provider" size="lg">
        <ProviderForm onClose={close} />
      </Modal>
    </Page>
  )
}

const Row = ({ provider }: { provider: Provider }) => (
  <Table.Tr>
    <Table.Td>
      <Text size="sm" fw={500}>
        {provider.name}
      </Text>
      <Text size="xs" c="dimmed" ff="monospace">
        {provider.key}
      </Text>
    </Table.Td>
    <Table.Td>{provider.adapter}</Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      {provider.base_url ?? 'per connection'}
    </Table.Td>
    <Table.Td>
      <Badge variant="light" color={provider.enabled ? 'green' : 'gray'}>
        {stateOf(provider)}
      </Badge>
    </Table.Td>
    <Table.Td>{provider.created_at ? <When at={provider.created_at} /> : '–'}</Table.Td>
    <Table.Td>
      <Actions provider={provider} />
    </Table.Td>
  </Table.Tr>
)

function stateOf({ built_in: isBuiltIn, enabled }: Provider): string {
  if (isBuiltIn) return 'built in'
  return enabled ? 'enabled' : 'disabled'
}

type Action = 'change' | 'off' | 'delete'

interface MenuProps {
  provider: Provider
  onAction: (deed: Action) => void
  onEnable: () => void
}

const ProviderMenu = ({ provider, onAction, onEnable }: MenuProps) => (
  <RowMenu name={provider.name}>
    {!provider.built_in && (
      <Permitted to="PUT /api/admin/providers/{id}">
        <Menu.Item onClick={() => onAction('change')}>Edit</Menu.Item>
      </Permitted>
    )}
    <Menu.Item
      renderRoot={(props) => (
        <Link to="/operator/models" search={{ provider: provider.key }} {...props} />
      )}
    >
      View models
    </Menu.Item>
    <Menu.Item
      renderRoot={(props) => (
        <Link to="/operator/connections" search={{ search: provider.key }} {...props} />
      )}
    >
      View connections
    </Menu.Item>
    {!provider.built_in && <ChangingItems {...{ provider, onAction, onEnable }} />}
  </RowMenu>
)

const ChangingItems = ({ provider: { enabled }, onAction, onEnable }: MenuProps) => (
  <Permitted to="PUT /api/admin/providers/{id}">
    {enabled ? (
      <Menu.Item onClick={() => onAction('off')}>Disable</Menu.Item>
    ) : (
      <Menu.Item onClick={onEnable}>Enable</Menu.Item>
    )}
    <Menu.Item color="red" onClick={() => onAction('delete')}>
      Delete
    </Menu.Item>
  </Permitted>
)

function Actions({ provider }: { provider: Provider }) {
  const { id, key, name } = provider
  const param = { id }
  const [dialog, setDialog] = useState<Action>()
  const refresh = useRefresh()
  const closeDialog = () => setDialog(undefined)
  const setEnabled = async (enabled: boolean) => {
    await api.PUT('/api/admin/providers/{id}', { params: { path: param }, body: { enabled } })
    await refresh()
  }
  const enable = () =>
    void setEnabled(true).catch((thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: name, message, color: 'red' })
    })
  const remove = async () => {
    await api.DELETE('/api/admin/providers/{id}', { params: { path: param } })
    await refresh()
  }
  return (
    <>
      <ProviderMenu provider={provider} onAction={setDialog} onEnable={enable} />
      <Modal opened={dialog === 'change'} onClose={closeDialog} title={`Edit ${name}`} size="lg">
        <ProviderForm provider={provider} onClose={closeDialog} />
      </Modal>
      {dialog === 'off' && (
        <Confirm
          question={`Disable ${name}?`}
          about={`Models of ${key} become unavailable to every account until it is enabled again. Running requests complete.`}
          label="Disable"
          cancel="Cancel"
          onConfirm={() => setEnabled(false)}
          onClose={closeDialog}
        />
      )}
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Only a provider without models and connections can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </>
  )
}
