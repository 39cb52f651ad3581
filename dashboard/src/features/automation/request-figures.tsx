import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { logQuery } from './queries'
import { count, formatCount } from '../../format/figures'
import { requestUsd } from '../../format/money'

interface Props {
  requestId: string
  /** Whether to show the tokens of the request. */
  hasTokens?: boolean
}

/** The cost and the duration of a request, and the link to its log, which is written a moment after the answer. */
export function RequestFigures({ requestId, hasTokens = false }: Props) {
  const { data: log } = useQuery(logQuery(requestId))
  // The line is reserved before its figures load, so that the layout does not shift.
  if (!log) return <Text size="xs">&nbsp;</Text>
  const tokens = hasTokens
    ? `${formatCount(log.input_tokens, 'token')} in, ${count(log.output_tokens)} out · `
    : ''
  return (
    <Text size="xs" c="dimmed">
      {log.status !== 'error' &&
        `${log.estimated ? 'about ' : ''}${tokens}${requestUsd(log.cost)} · ${count(log.latency_ms)} ms · `}
      <Anchor
        inherit
        underline="always"
        renderRoot={(props) => <Link to="/logs" search={{ open: requestId }} {...props} />}
      >
        View request
      </Anchor>
    </Text>
  )
}
