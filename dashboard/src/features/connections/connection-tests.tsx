import { Badge, Group, Loader, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { connectionsQuery, testOf, type Connection, type TestResult } from './queries'
import { formatCount, duration } from '../../format/figures'

type Tested = Pick<Connection, 'id' | 'name'>

interface Tests {
  connections: readonly Tested[]
  /** Results by connection id; a missing one is still running. */
  results: Readonly<Record<string, TestResult>>
}

/** Runs connection tests and holds their results. */
export function useConnectionTests() {
  const queries = useQueryClient()
  const [tests, setTests] = useState<Tests>()
  const start = async (connections: readonly Tested[]) => {
    setTests({ connections, results: {} })
    await Promise.all(
      connections.map(async ({ id }) => {
        const result = await testOf(id)
        setTests((now) =>
          now?.connections === connections
            ? { connections, results: { ...now.results, [id]: result } }
            : now,
        )
      }),
    )
    await queries.invalidateQueries(connectionsQuery)
  }
  return { tests, start, close: () => setTests(undefined) }
}

interface Props {
  tests: Tests | undefined
  onClose: () => void
}

/** Shows the results of connection tests. */
export const ConnectionTests = ({ tests, onClose }: Props) => (
  <Modal opened={tests !== undefined} onClose={onClose} title="Connection test">
    <Stack gap="md" aria-live="polite">
      {tests?.connections.map(({ id, name }) => (
        <Result key={id} name={name} result={tests.results[id]} />
      ))}
    </Stack>
  </Modal>
)

function Result({ name, result }: { name: string; result: TestResult | undefined }) {
  return (
    <div>
      <Group gap="xs">
        <Text fw={500} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        {result ? (
          <Badge color={result.success ? 'green' : 'red'} variant="light">
            {result.success ? 'works' : 'failed'}
          </Badge>
        ) : (
          <Loader size="xs" role="img" aria-label={`Testing ${name}`} />
        )}
      </Group>
      {result && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {result.message}
        </Text>
      )}
      {result?.latency_ms !== undefined && (
        <Text size="xs" c="dimmed">
          {duration(result.latency_ms)} · {formatCount(result.models_found ?? 0, 'model')} found
        </Text>
      )}
    </div>
  )
}
