import { Box, Text, Title } from '@mantine/core'
import { duration } from '../../format/figures'
import { plainName } from '../../format/plain-name'
import type { RequestDetails } from './queries'

const barColors = {
  success: 'var(--mantine-color-green-6)',
  error: 'var(--mantine-color-red-6)',
  cancelled: 'var(--mantine-color-gray-6)',
} as const

/** A part of a request in time. */
interface Span {
  name: string
  about: string
  startedMs: number
  durationMs: number
  /** From the start of the span; null where nothing was streamed. */
  firstTokenMs: number | null
  color: string
}

/** The parts of a request: the whole, then its attempts. */
function spansOf(log: RequestDetails): Span[] {
  const attempts = log.resolution_attempts.attempts.flatMap((attempt): Span[] => {
    if (attempt.status === 'passed_over') return []
    const { provider, connection_name: connection, error_code: reason } = attempt
    return [
      {
        name: connection ?? provider,
        about: reason === null ? attempt.model : plainName(reason),
        startedMs: attempt.started_ms,
        durationMs: attempt.latency_ms,
        firstTokenMs: attempt.time_to_first_token_ms,
        color: barColors[attempt.status],
      },
    ]
  })
  const whole: Span = {
    name: 'Request',
    about: log.model || log.endpoint,
    startedMs: 0,
    durationMs: log.latency_ms,
    firstTokenMs: log.time_to_first_token_ms,
    color: 'var(--mantine-color-brand-6)',
  }
  return [whole, ...attempts]
}

const percentOf = (part: number, whole: number) =>
  `${Math.min(100, Math.max(0, (100 * part) / whole)).toFixed(2)}%`

/** The bar of a span; the part after its first token is full. */
const Bar = ({ span, wholeMs }: { span: Span; wholeMs: number }) => {
  const { startedMs, durationMs, firstTokenMs } = span
  const streamedMs = firstTokenMs === null ? durationMs : durationMs - firstTokenMs
  return (
    <div className="waterfall-track">
      <Box
        className="waterfall-bar"
        __vars={{ '--bar': span.color }}
        style={{ left: percentOf(startedMs, wholeMs), width: percentOf(durationMs, wholeMs) }}
      >
        <div
          className="waterfall-stream"
          style={{ width: percentOf(streamedMs, Math.max(1, durationMs)) }}
        />
      </Box>
    </div>
  )
}

const describe = ({ name, startedMs, durationMs, firstTokenMs }: Span) =>
  `${name}: from ${duration(startedMs)}, ${duration(durationMs)}${
    firstTokenMs === null ? '' : `, first token after ${duration(firstTokenMs)}`
  }`

/** The request and its attempts on one time axis. */
export function Waterfall({ log }: { log: RequestDetails }) {
  const spans = spansOf(log)
  const wholeMs = Math.max(1, ...spans.map((span) => span.startedMs + span.durationMs))
  return (
    <section aria-label="Timeline">
      <Title order={3} size="h5" mb={6}>
        Timeline
      </Title>
      <div className="waterfall">
        {spans.map((span, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- a connection tried twice differs by position only
          <Line key={index} span={span} wholeMs={wholeMs} />
        ))}
        <span className="waterfall-space" />
        <Text size="xs" c="dimmed" component="div" className="waterfall-axis" aria-hidden>
          <span>0</span>
          <span>{duration(wholeMs / 2)}</span>
          <span>{duration(wholeMs)}</span>
        </Text>
        <span className="waterfall-space" />
      </div>
    </section>
  )
}

const Line = ({ span, wholeMs }: { span: Span; wholeMs: number }) => (
  <>
    <Box miw={0} title={describe(span)}>
      <Text size="sm" truncate>
        {span.name}
      </Text>
      <Text size="xs" c="dimmed" truncate>
        {span.about}
      </Text>
    </Box>
    <Bar span={span} wholeMs={wholeMs} />
    <Box ta="right">
      <Text size="sm">{duration(span.durationMs)}</Text>
      {span.firstTokenMs !== null && (
        <Text size="xs" c="dimmed">
          first token {duration(span.firstTokenMs)}
        </Text>
      )}
    </Box>
  </>
)
