import { Anchor, Badge, Code, Group, Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { strategies, type Collection } from './queries'
import { count } from '../../format/figures'

type Listed = Pick<
  Collection,
  'id' | 'name' | 'display_name' | 'enabled' | 'model_id' | 'routing_strategy' | 'scope'
> & { members: readonly unknown[] }

interface Props {
  collections: readonly Listed[]
  /** The page on which a collection opens. */
  page: '/collections' | '/operator/collections'
  /** Whether to show the scope of collections that do not belong to the account. */
  showsScope?: boolean
}

/** A table of collections; the name opens one. */
export const CollectionTable = ({ collections, page, showsScope = false }: Props) => (
  <ListTable
    columns={['Name', 'Model name', 'Strategy', { name: 'Models', isNumber: true }]}
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
                <Link to={page} search={{ collection: one.id }} resetScroll={false} {...props} />
              )}
            >
              {one.display_name ?? one.name}
            </Anchor>
            {showsScope && one.scope !== 'individual' && (
              <Badge variant="outline">{one.scope}</Badge>
            )}
            {!one.enabled && <Badge color="gray">disabled</Badge>}
          </Group>
        </Table.Td>
        <Table.Td>
          <Code>{one.model_id}</Code>
        </Table.Td>
        <Table.Td>{strategies[one.routing_strategy][0]}</Table.Td>
        <Table.Td ta="right">{count(one.members.length)}</Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
