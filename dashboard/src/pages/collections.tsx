import { Anchor, Badge, Code, Group, Table } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { ListTable } from '../components/list-table'
import { collectionsQuery, strategies, type Collection } from '../collections'
import { Empty } from '../components/empty'
import { ListPage } from '../components/list-page'
import { countOf } from '../numbers'
import { CollectionDrawer } from './collection-drawer'
import { NewCollection } from './new-collection'

const none = {
  title: 'No collections of your own yet',
  text: (
    <>
      Put models together that can stand in for each other, and call them as{' '}
      <Code>collection/name</Code>.
    </>
  ),
}

export function CollectionsPage() {
  const query = useQuery(collectionsQuery)
  const { collection: openId } = useSearch({ from: '/home/collections' })
  const navigate = useNavigate({ from: '/collections' })
  const show = (collection: string | undefined) =>
    void navigate({ search: { collection }, resetScroll: false })
  return (
    <>
      <ListPage
        title="Collections"
        about="Models under one name: a call for it goes to one of them, and to another where that one fails."
        query={query}
        empty={none}
        add={{
          label: 'New collection',
          form: (close) => (
            <NewCollection
              onMade={(id) => {
                close()
                show(id)
              }}
              onCancel={close}
            />
          ),
        }}
      >
        {(collections) => (
          <>
            <CollectionTable collections={collections} />
            {collections.every(({ scope }) => scope === 'system') && (
              <Empty title={none.title}>{none.text}</Empty>
            )}
          </>
        )}
      </ListPage>
      {query.data && openId !== undefined && (
        <CollectionDrawer
          key={openId}
          collection={query.data.find(({ id }) => id === openId)}
          onClose={() => show(undefined)}
        />
      )}
    </>
  )
}

const CollectionTable = ({ collections }: { collections: readonly Collection[] }) => (
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
                  to="/collections"
                  search={{ collection: one.id }}
                  resetScroll={false}
                  {...props}
                />
              )}
            >
              {one.display_name ?? one.name}
            </Anchor>
            {one.scope !== 'individual' && <Badge variant="outline">{one.scope}</Badge>}
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
