import { Alert, Anchor, Badge, Button, Code, Drawer, Group, Stack, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { CollectionForm } from './collection-form'
import { admin, json } from '../../api'
import { strategies } from '../../collections'
import { Confirm } from '../../components/confirm'
import { ListPage } from '../../components/list-page'
import { countOf } from '../../numbers'
import { systemCollectionsQuery, type SystemCollection } from '../../operator/collections'
import { useRefresh } from '../../operator/refresh'

const route = getRouteApi('/home/operator/collections')

async function make(fields: object) {
  await admin.collections.$post(undefined, json(fields))
}

export function SystemCollectionsPage() {
  const { collection: openId } = route.useSearch()
  const navigate = route.useNavigate()
  const close = () => void navigate({ search: {}, resetScroll: false })
  return (
    <ListPage
      title="System collections"
      about="Models under one name that everybody may call. “auto-free” has all free models as long as it is given none."
      query={useQuery(systemCollectionsQuery)}
      empty={{
        title: 'No collections',
        text: 'Put models together that can stand in for each other.',
      }}
      add={{
        label: 'New collection',
        size: 'lg',
        form: (done) => <CollectionForm save={make} onClose={done} />,
      }}
    >
      {(collections) => (
        <>
          <CollectionTable collections={collections} />
          {openId !== undefined && (
            <CollectionDrawer
              key={openId}
              collection={collections.find(({ id }) => id === openId)}
              onClose={close}
            />
          )}
        </>
      )}
    </ListPage>
  )
}

const CollectionTable = ({ collections }: { collections: readonly SystemCollection[] }) => (
  <ListTable
    columns={['Name', 'Called as', 'Asked first', { name: 'Models', isNumber: true }]}
    minWidth={640}
  >
    {collections.map((one) => (
      <Table.Tr key={one.id}>
        <Table.Td>
          <Group gap={6}>
            <Anchor
              fw={500}
              size="sm"
              renderRoot={(props) => (
                <Link
                  to="/operator/collections"
                  search={{ collection: one.id }}
                  resetScroll={false}
                  {...props}
                />
              )}
            >
              {one.display_name ?? one.name}
            </Anchor>
            {!one.enabled && <Badge color="gray">off</Badge>}
          </Group>
        </Table.Td>
        <Table.Td>
          <Code>{one.model_id}</Code>
        </Table.Td>
        <Table.Td>{strategies[one.routing_strategy][0]}</Table.Td>
        <Table.Td ta="right">{countOf(one.members.length)}</Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

interface DrawerProps {
  /** Undefined where there is none such. */
  collection: SystemCollection | undefined
  onClose: () => void
}

function CollectionDrawer({ collection, onClose }: DrawerProps) {
  const [isDoomed, setDoomed] = useState(false)
  const refresh = useRefresh()
  if (!collection) {
    return (
      <Drawer opened onClose={onClose} position="right" title="Collection">
        <Alert color="gray">This collection is gone.</Alert>
      </Drawer>
    )
  }
  const { id, model_id: name } = collection
  const param = { id }
  const save = async (fields: object) => {
    await admin.collections[':id'].$put({ param }, json(fields))
  }
  const remove = async () => {
    await admin.collections[':id'].$delete({ param })
    onClose()
    await refresh()
  }
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title={name}>
      <Stack gap="xl">
        <CollectionForm collection={collection} save={save} onClose={onClose} />
        <Group>
          <Button variant="subtle" color="red" onClick={() => setDoomed(true)}>
            Delete
          </Button>
        </Group>
      </Stack>
      {isDoomed && (
        <Confirm
          question={`Delete ${name}?`}
          about="Calls for this name are refused from then on, for everybody. The models stay."
          label="Delete"
          onConfirm={remove}
          onClose={() => setDoomed(false)}
        />
      )}
    </Drawer>
  )
}
