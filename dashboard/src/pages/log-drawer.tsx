import {
  Alert,
  Badge,
  Button,
  Code,
  CopyButton,
  Drawer,
  Group,
  ScrollArea,
  Stack,
  Table,
  Text,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Loaded } from '../components/loaded'
import { When } from '../components/when'
import { detailsQuery, logColors, type LogDetails } from '../logs'
import { count, duration, exactUsd } from '../figures'
import { plainName } from '../plain-name'
import { rateWords } from '../prices'
import { LogAttempts } from './log-attempts'

/** The details of one request. */
export function LogDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(detailsQuery(id))
  return (
    <Drawer opened onClose={onClose} position="right" size="xl" title="Request">
      <Stack gap="lg">
        <Group gap="xs">
          <Code style={{ overflowWrap: 'anywhere' }}>{id}</Code>
          <Copy label="Copy id" value={id} />
        </Group>
        <Loaded query={query}>{(log) => <Details log={log} />}</Loaded>
      </Stack>
    </Drawer>
  )
}

const Copy = ({ label, value }: { label: string; value: string }) => (
  <CopyButton value={value}>
    {({ copied, copy }) => (
      <Button size="compact-xs" variant="light" onClick={copy}>
        {copied ? 'Copied' : label}
      </Button>
    )}
  </CopyButton>
)

const Details = ({ log }: { log: LogDetails }) => (
  <>
    {log.error && (
      <Alert color="red" title={`${log.error.code}, ${log.error.type}`}>
        {log.error.message}
      </Alert>
    )}
    <Facts rows={requestFacts(log)} name="Request" />
    <Facts rows={costFacts(log)} name="Tokens and cost" />
    <LogAttempts found={log.resolution_attempts} />
    <Facts rows={callerFacts(log)} name="Caller" />
    <Bodies log={log} />
    <Group>
      <Button
        variant="default"
        renderRoot={(props) => (
          <Link to="/support" search={{ new: true, request: log.id }} {...props} />
        )}
      >
        Contact support about this request
      </Button>
    </Group>
  </>
)

type Fact = [name: string, value: ReactNode]

const Facts = ({ name, rows }: { name: string; rows: readonly Fact[] }) => (
  <section>
    <Title order={3} size="h5" mb={4}>
      {name}
    </Title>
    <Table withRowBorders={false} verticalSpacing={4} layout="fixed">
      <Table.Tbody>
        {rows
          .filter(([, value]) => value !== null && value !== undefined && value !== '')
          .map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={150} fw={400} c="dimmed" scope="row">
                {label}
              </Table.Th>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>{value}</Table.Td>
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  </section>
)

const orNothing = <Value, Shown>(value: Value | null, show: (value: Value) => Shown) =>
  value === null ? undefined : show(value)

const requestFacts = (log: LogDetails): Fact[] => [
  ['Time', <When key="when" at={log.created_at} withSeconds />],
  [
    'Status',
    <Badge key="status" color={logColors[log.status]} variant="light">
      {log.status} {log.status_code}
    </Badge>,
  ],
  ['Endpoint', `${log.method} ${log.endpoint}${log.stream ? ', streamed' : ''}`],
  ['Requested model', log.requested_model],
  ['Served by', orNothing(log.provider, (provider) => `${log.model} (${provider})`)],
  ['Duration', duration(log.latency_ms)],
  ['Time to first token', orNothing(log.time_to_first_token_ms, duration)],
  ['Finish reason', orNothing(log.finish_reason, plainName)],
  ['Connection', log.connection_id],
  [
    'Called from',
    orNothing(log.gateway_type, (type) => (type === 3 ? 'your gateway' : 'this service')),
  ],
]

const costFacts = (log: LogDetails): Fact[] => [
  ['Input tokens', count(log.input_tokens)],
  ['Cached input', log.cached_tokens > 0 ? count(log.cached_tokens) : undefined],
  ['Cache writes', log.cache_write_tokens > 0 ? count(log.cache_write_tokens) : undefined],
  ['Output tokens', count(log.output_tokens)],
  ['Input characters', orNothing(log.measured?.input_characters ?? null, count)],
  ['Output characters', orNothing(log.measured?.output_characters ?? null, count)],
  ['Processing time', orNothing(log.measured?.processing_ms ?? null, duration)],
  ['Web searches', log.measured?.searches ? count(log.measured.searches) : undefined],
  ['Token count', log.estimated ? 'estimated: the provider reported no usage' : undefined],
  ['Cost', exactUsd(log.cost)],
  ['Saved by caching', log.cache_savings > 0 ? exactUsd(log.cache_savings) : undefined],
  ['Price tier', orNothing(log.pricing, ({ tier }) => tier ?? undefined)],
  ['Price', orNothing(log.pricing, rateWords)],
  ['Cost breakdown', feeOf(log)],
  ['Billing', orNothing(log.billing_mode, (mode) => billing[mode])],
]

const feeOf = ({ cost, platform_fee, provider_revenue }: LogDetails) =>
  cost > 0
    ? `${exactUsd(platform_fee)} platform fee, ${exactUsd(provider_revenue)} provider`
    : undefined

const billing = {
  platform: 'your credits',
  house: 'not charged: billed to the operator',
  byok: 'your own key, billed by the provider',
  org_pays: 'the organization’s credits',
  member_pays: 'your credits, for a connection of the organization',
  free: 'free',
} as const

const callerFacts = (log: LogDetails): Fact[] => [
  ['API key', orNothing(log.api_key_prefix, (prefix) => prefix && `${prefix}…`)],
  ['Organization', log.organization_id],
  ['User', log.user],
  ['Metadata', orNothing(log.metadata, (metadata) => <Code block>{pretty(metadata)}</Code>)],
  ['IP address', log.ip_address],
  ['Client', log.user_agent],
]

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)

/** Formats JSON; other bodies are returned unchanged. */
function readable(body: string): string {
  try {
    return pretty(JSON.parse(body))
  } catch {
    return body
  }
}

const Bodies = ({ log: { request_body, response_body } }: { log: LogDetails }) =>
  request_body === null && response_body === null ? (
    <Text size="sm" c="dimmed">
      Request and response bodies were not stored. They are stored if the operator allows it and
      your settings enable it.
    </Text>
  ) : (
    <>
      <Body name="Request body" body={request_body} />
      <Body name="Response body" body={response_body} />
    </>
  )

const Body = ({ name, body }: { name: string; body: string | null }) =>
  body !== null && (
    <section>
      <Group justify="space-between" mb={4}>
        <Title order={3} size="h5">
          {name}
        </Title>
        <Copy label="Copy" value={body} />
      </Group>
      <ScrollArea.Autosize mah={320} viewportProps={{ tabIndex: 0, 'aria-label': name }}>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {readable(body)}
        </Code>
      </ScrollArea.Autosize>
    </section>
  )
