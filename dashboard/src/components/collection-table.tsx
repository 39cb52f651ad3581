import { Anchor, Badge, Code, Group, Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ListTable } from './list-table'
import { strategies, type Collection } from '../collections'
import { count } from '../figures'

type Listed = Pick<
  Collection,
  'id' | 'name' | 'display_name' | 'enabled' | 'model_id' | 'routing_strategy' | 'scope'
> & { members: readonly unknown[] }

interface Props {
  collections: readonly Listed[]
  /** Where one of them is opened. */
  page: '/collections' | '/operator/collections'
  /** Says of each that is not the account's own whose it is. */
  tellsScope?: boolean
}

/** Collections, one a row; the name opens it. */
export const CollectionTable = ({ collections, page, tellsScope = false }: Props) => (
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
                <Link to={page} search={{ collection: one.id }} resetScroll={false} {...props} />
              )}
            >
              {one.display_name ?? one.name}
            </Anchor>
            {tellsScope && one.scope !== 'individual' && (
              <Badge variant="outline">{one.scope}</Badge>
            )}
            {!one.enabled && <Badge color="gray">off</Badge>}
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
