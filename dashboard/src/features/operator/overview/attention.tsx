import { Anchor, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useOperatorAccess } from '../../../api/role'
import { Card } from '../../../components/card'
import { Loaded } from '../../../components/loaded'
import { concernsQuery, type Concern } from './queries'

/** Lists what an operator should look at, each with a link to its page. */
export function Attention() {
  const { may } = useOperatorAccess()
  const query = useQuery(concernsQuery(may))
  return (
    <Card title="Needs attention">
      <Loaded query={query}>{(concerns) => <Concerns concerns={concerns} />}</Loaded>
    </Card>
  )
}

const Concerns = ({ concerns }: { concerns: Concern[] }) =>
  concerns.length === 0 ? (
    <Text size="sm" c="dimmed">
      Nothing: nodes, database, connections and tickets are in order.
    </Text>
  ) : (
    <List size="sm">
      {concerns.map(({ text, to }) => (
        <List.Item key={text}>
          <Anchor size="sm" renderRoot={(props) => <Link to={to} {...props} />}>
            {text}
          </Anchor>
        </List.Item>
      ))}
    </List>
  )
