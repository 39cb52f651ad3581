import { Badge, Table, Text, Title } from '@mantine/core'
import { ListTable } from '../../components/list-table'
import type { LogDetails } from './queries'
import { duration } from '../../format/figures'
import { Money } from '../../components/money'
import { plainName } from '../../format/plain-name'

type ResolutionAttempts = LogDetails['resolution_attempts']
type Attempt = ResolutionAttempts['attempts'][number]

const colors = { success: 'green', error: 'red', cancelled: 'gray', passed_over: 'yellow' } as const

const connectionOf = ({ connection_name: name, connection_id: id }: Attempt) =>
  name || id ? `, ${name ?? id}` : ''

const Row = ({ attempt }: { attempt: Attempt }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{attempt.model}</Text>
      <Text size="xs" c="dimmed">
        {attempt.provider}
        {connectionOf(attempt)}
      </Text>
      {attempt.last_route && (
        <Text size="xs" c="dimmed">
          Circuit breaker open; tried as the last route
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <Badge color={colors[attempt.status]} variant="light">
        {plainName(attempt.status)}
      </Badge>
    </Table.Td>
    <Table.Td>{attempt.error_code === null ? '–' : plainName(attempt.error_code)}</Table.Td>
    <Table.Td ta="right">
      {attempt.status === 'passed_over' ? '–' : duration(attempt.latency_ms)}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={attempt.cost} of="request" />
    </Table.Td>
  </Table.Tr>
)

/** The attempts of a request in order, with the reason for each failure. */
export const LogAttempts = ({
  resolution: { attempts, summary },
}: {
  resolution: ResolutionAttempts
}) => (
  <section>
    <Title order={3} size="h5" mb={4}>
      Attempts
    </Title>
    {attempts.length === 0 ? (
      <Text size="sm" c="dimmed">
        No attempts: the request was rejected before routing.
      </Text>
    ) : (
      <>
        <Text size="sm" c="dimmed">
          Tried {summary.total_candidates_tried} in {duration(summary.total_duration_ms)}
          {summary.successful_candidate
            ? `; ${summary.successful_candidate.provider} succeeded.`
            : '; none succeeded.'}
        </Text>
        <ListTable
          columns={[
            'Model',
            { name: 'Status', position: 'aside' },
            { name: 'Reason', position: 'wide' },
            { name: 'Duration', isNumber: true },
            { name: 'Cost', isNumber: true },
          ]}
          minWidth={520}
        >
          {attempts.map((attempt, index) => (
            // oxlint-disable-next-line react/no-array-index-key -- a connection tried twice differs by position only
            <Row key={index} attempt={attempt} />
          ))}
        </ListTable>
      </>
    )}
  </section>
)
