import { Anchor, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../../../components/card'
import { Loaded } from '../../../components/loaded'
import { systemQuery } from '../system/queries'
import { listConcerns, waitingQuery, type Concern } from './queries'

/** Lists what an operator should look at, each with a link to its page. */
export function Attention() {
  const system = useQuery(systemQuery)
  const waiting = useQuery(waitingQuery)
  return (
    <Card title="Needs attention">
      <Loaded query={system}>
        {(state) => (
          <Loaded query={waiting}>
            {(counts) => <Concerns concerns={listConcerns(state, counts)} />}
          </Loaded>
        )}
      </Loaded>
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
