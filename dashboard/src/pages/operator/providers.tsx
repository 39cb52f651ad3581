import { Badge, Button, Menu, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ProviderForm } from './provider-form'
import { admin, json } from '../../api'
import { Confirm } from '../../components/confirm'
import { Filters } from '../../components/filters'
import { Page } from '../../components/page'
import { PagedTable } from '../../components/paged-table'
import { SearchBox } from '../../components/search-box'
import { When } from '../../components/when'
import { RowMenu } from '../../components/row-menu'
import { providersQuery, type Provider } from '../../operator/providers'
import { useRefresh } from '../../operator/refresh'

const route = getRouteApi('/home/operator/providers')

async function make(fields: object) {
  await admin.providers.$post(undefined, json(fields))
}

export function ProvidersPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, { open, close }] = useDisclosure()
  const add = <Button onClick={open}>New provider</Button>
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
      <PagedTable
        query={useQuery(providersQuery(search))}
        columns={[
          'Provider',
          'API format',
          { name: 'Base URL', place: 'wide' },
          'Status',
          'Created',
          { name: 'Actions', isHidden: true },
        ]}
        minWidth={860}
        things="providers"
        empty={{
          title: 'No providers yet',
          text: 'Add a provider that is not built in, or your own server, then a connection to it and its models.',
        }}
        isFiltered={search.search !== undefined}
        page={search.page ?? 1}
        onPage={(page) => void navigate({ search: (now) => ({ ...now, page }) })}
      >
        {(provider) => <Row key={provider.id} provider={provider} />}
      </PagedTable>
      <Modal opened={isOpen} onClose={close} title="New provider" size="lg">
        <ProviderForm save={make} onClose={close} />
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

type Deed = 'change' | 'off' | 'delete'

interface MenuProps {
  provider: Provider
  onAsk: (deed: Deed) => void
  onEnable: () => void
}

const ProviderMenu = ({ provider, onAsk, onEnable }: MenuProps) => (
  <RowMenu name={provider.name}>
    {!provider.built_in && <Menu.Item onClick={() => onAsk('change')}>Edit</Menu.Item>}
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
    {!provider.built_in && <ChangingItems {...{ provider, onAsk, onEnable }} />}
  </RowMenu>
)

const ChangingItems = ({ provider: { enabled }, onAsk, onEnable }: MenuProps) => (
  <>
    {enabled ? (
      <Menu.Item onClick={() => onAsk('off')}>Disable</Menu.Item>
    ) : (
      <Menu.Item onClick={onEnable}>Enable</Menu.Item>
    )}
    <Menu.Item color="red" onClick={() => onAsk('delete')}>
      Delete
    </Menu.Item>
  </>
)

function Actions({ provider }: { provider: Provider }) {
  const { id, key, name } = provider
  const param = { id }
  const [asked, setAsked] = useState<Deed>()
  const refresh = useRefresh()
  const done = () => setAsked(undefined)
  const save = async (fields: object) => {
    await admin.providers[':id'].$put({ param }, json(fields))
  }
  const setEnabled = async (enabled: boolean) => {
    await save({ enabled })
    await refresh()
  }
  const enable = () =>
    void setEnabled(true).catch((thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: name, message, color: 'red' })
    })
  const remove = async () => {
    await admin.providers[':id'].$delete({ param })
    await refresh()
  }
  return (
    <>
      <ProviderMenu provider={provider} onAsk={setAsked} onEnable={enable} />
      <Modal opened={asked === 'change'} onClose={done} title={`Edit ${name}`} size="lg">
        <ProviderForm provider={provider} save={save} onClose={done} />
      </Modal>
      {asked === 'off' && (
        <Confirm
          question={`Disable ${name}?`}
          about={`Models of ${key} become unavailable to every account until it is enabled again. Running requests complete.`}
          label="Disable"
          cancel="Cancel"
          onConfirm={() => setEnabled(false)}
          onClose={done}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Only a provider without models and connections can be deleted."
          label="Delete"
          onConfirm={remove}
          onClose={done}
        />
      )}
    </>
  )
}
