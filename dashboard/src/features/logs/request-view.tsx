import { Alert, Badge, Code, Group, Table, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Copy } from '../../components/copy'
import { When } from '../../components/when'
import { count, duration } from '../../format/figures'
import { exactUsd } from '../../format/money'
import { describeBilling, type Reader } from '../../format/payer'
import { toPrettyJson } from '../../format/json'
import { plainName } from '../../format/plain-name'
import { rateLabels } from '../models/prices'
import { toCurl } from './curl'
import { Charges } from './charges'
import { LogAttempts } from './log-attempts'
import { logColors, type RequestDetails } from './queries'
import { toolsOf } from './stored-bodies'
import { Waterfall } from './waterfall'

interface Props {
  log: RequestDetails
  /** The account that sent it, or an operator. */
  reader: Reader
  /** Actions beside those that copy. */
  actions?: ReactNode
  /** The parts for one kind of reader alone, at the end. */
  children?: ReactNode
}

/** One request: outcome, timeline, attempts, tokens, cost and caller. */
export const RequestView = ({ log, reader, actions, children }: Props) => (
  <>
    <Group gap="xs">
      <Code style={{ overflowWrap: 'anywhere' }}>{log.id}</Code>
      <Copy label="Copy id" value={log.id} />
    </Group>
    {log.error && (
      <Alert color="red" title={`${log.error.code}, ${log.error.type}`}>
        {log.error.message}
      </Alert>
    )}
    <Group gap="xs">
      <Copy label="Copy as curl" value={toCurl(log, window.location.origin)} />
      {actions}
    </Group>
    <Facts rows={requestFacts(log)} name="Request" />
    <Waterfall log={log} />
    <LogAttempts resolution={log.resolution_attempts} />
    <Facts rows={costFacts(log, reader)} name="Tokens and cost" />
    {log.charges && <Charges charges={log.charges} cost={log.cost} />}
    <Facts rows={callerFacts(log)} name="Caller" />
    {children}
  </>
)

type Fact = [name: string, value: ReactNode]

const Facts = ({ name, rows }: { name: string; rows: readonly Fact[] }) => (
  <section aria-label={name}>
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

const orDash = <Value, Shown>(value: Value | null, show: (value: Value) => Shown) =>
  value === null ? undefined : show(value)

function requestFacts(log: RequestDetails): Fact[] {
  const { offered, called } = toolsOf(log)
  return [
    ['Time', <When key="when" at={log.created_at} withSeconds />],
    [
      'Status',
      <Badge key="status" color={logColors[log.status]} variant="light">
        {log.status} {log.status_code}
      </Badge>,
    ],
    ['Endpoint', `${log.method} ${log.endpoint}${log.stream ? ', streamed' : ''}`],
    ['Requested model', log.requested_model],
    ['Served by', orDash(log.provider, (provider) => `${log.model} (${provider})`)],
    ['Duration', duration(log.latency_ms)],
    ['Time to first token', orDash(log.time_to_first_token_ms, duration)],
    ['Finish reason', orDash(log.finish_reason, plainName)],
    ['Tools offered', offered.join(', ')],
    ['Tools called', called.join(', ')],
    ['Connection', connectionOf(log)],
    [
      'Called from',
      orDash(log.gateway_type, (type) => (type === 3 ? 'a self-hosted gateway' : 'Tollgate')),
    ],
  ]
}

/** The connection that served a request, by its name where the reader may see it. */
function connectionOf(log: RequestDetails): string | null {
  const { attempts } = log.resolution_attempts
  const last = attempts.findLast(({ connection_id: id }) => id === log.connection_id)
  return last?.connection_name ?? log.connection_id
}

const measuredFacts = ({ images, measured, ...log }: RequestDetails): Fact[] => [
  ['Input characters', orDash(measured?.input_characters ?? null, count)],
  ['Output characters', orDash(measured?.output_characters ?? null, count)],
  ['Processing time', orDash(measured?.processing_ms ?? null, duration)],
  ['Images', images > 0 ? count(images) : undefined],
  ['Audio', measured?.audio_ms ? duration(measured.audio_ms) : undefined],
  ['Spoken characters', log.speech_characters > 0 ? count(log.speech_characters) : undefined],
  ['Speech', log.speech_seconds > 0 ? duration(log.speech_seconds * 1000) : undefined],
  ['Web searches', measured?.searches ? count(measured.searches) : undefined],
]

const costFacts = (log: RequestDetails, reader: Reader): Fact[] => [
  ['Input tokens', count(log.input_tokens)],
  ['Cached input', log.cached_tokens > 0 ? count(log.cached_tokens) : undefined],
  ['Cache writes', log.cache_write_tokens > 0 ? count(log.cache_write_tokens) : undefined],
  ['Output tokens', count(log.output_tokens)],
  ...measuredFacts(log),
  ['Token count', log.estimated ? 'estimated: the provider reported no usage' : undefined],
  ['Cost', exactUsd(log.cost)],
  ['Saved by caching', log.cache_savings > 0 ? exactUsd(log.cache_savings) : undefined],
  ['Price tier', orDash(log.pricing, ({ tier }) => tier ?? 'standard')],
  ['Price', orDash(log.pricing, rateLabels)],
  ['Cost breakdown', feeOf(log)],
  ['Paid by', describeBilling(log, reader)],
]

const feeOf = ({ cost, platform_fee: fee, provider_revenue: revenue }: RequestDetails) =>
  cost > 0 ? `${exactUsd(fee)} platform fee, ${exactUsd(revenue)} provider` : undefined

const keyOf = ({ api_key_name: name, api_key_prefix: prefix }: RequestDetails) =>
  [name, prefix && `${prefix}…`].filter(Boolean).join(', ')

const callerFacts = (log: RequestDetails): Fact[] => [
  ['API key', keyOf(log)],
  ['Organization', log.organization_name ?? log.organization_id],
  ['User', log.user],
  ['Tags', log.tags.join(', ')],
  ['Metadata', orDash(log.metadata, (metadata) => <Code block>{toPrettyJson(metadata)}</Code>)],
  ['IP address', log.ip_address],
  ['Client', log.user_agent],
]
