import { Anchor, Badge, Button, Code, Group, Modal, Table } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { collectionsQuery, strategies, type Collection } from '../collections'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { Page } from '../components/page'
import { countOf } from '../numbers'
import { CollectionDrawer } from './collection-drawer'
import { NewCollection } from './new-collection'

export function CollectionsPage() {
  const query = useQuery(collectionsQuery)
  const { collection: openId } = useSearch({ from: '/home/collections' })
  const navigate = useNavigate({ from: '/collections' })
  const [isMaking, { open, close }] = useDisclosure()
  const show = (collection: string | undefined) =>
    void navigate({ search: { collection }, resetScroll: false })
  const make = <Button onClick={open}>New collection</Button>
  return (
    <Page
      title="Collections"
      about="Models under one name: a call for it goes to one of them, and to another where that one fails."
      actions={make}
    >
      <Loaded query={query}>
        {(collections) => (
          <>
            {collections.length > 0 && <CollectionTable collections={collections} />}
            {collections.every(({ scope }) => scope === 'system') && (
              <Empty title="No collections of your own yet" action={make}>
                Put models together that can stand in for each other, and call them as{' '}
                <Code>collection/name</Code>.
              </Empty>
            )}
            {openId !== undefined && (
              <CollectionDrawer
                key={openId}
                collection={collections.find(({ id }) => id === openId)}
                onClose={() => show(undefined)}
              />
            )}
          </>
        )}
      </Loaded>
      <Modal opened={isMaking} onClose={close} title="New collection">
        <NewCollection
          onMade={(id) => {
            close()
            show(id)
          }}
          onCancel={close}
        />
      </Modal>
    </Page>
  )
}

const CollectionTable = ({ collections }: { collections: readonly Collection[] }) => (
  <Table.ScrollContainer minWidth={640}>
    <Table verticalSpacing="sm" highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Called as</Table.Th>
          <Table.Th>Asked first</Table.Th>
          <Table.Th ta="right">Models</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
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
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
