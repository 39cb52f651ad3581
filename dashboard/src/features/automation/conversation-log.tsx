import { Box, Group, Loader, Paper, Spoiler, Stack, Text, type BoxProps } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import { SafeMarkdown } from '../../components/markdown'
import { Limit, ToolSteps } from './tool-step-list'
import type { Line } from './conversation-lines'
import { RequestFigures } from './request-figures'
import { isLimit } from './tool-steps'

const MessageText = ({ text }: { text: string }) => (
  <Paper bg="var(--mantine-color-default-hover)" p="sm" ml="xl">
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  </Paper>
)

function Answer({ line, isComing }: { line: Line; isComing: boolean }) {
  const { text, reasoning, steps, problem, requestId, model } = line
  return (
    <Stack gap={4} aria-busy={isComing}>
      {model && (
        <Text size="xs" fw={600}>
          {model}
        </Text>
      )}
      {reasoning && (
        <Spoiler maxHeight={60} showLabel="Show all reasoning" hideLabel="Show less">
          <Text size="xs" c="dimmed" style={{ whiteSpace: 'pre-wrap' }}>
            {reasoning}
          </Text>
        </Spoiler>
      )}
      {isLimit(text) ? (
        <Limit text={text} />
      ) : (
        <Box style={{ overflowWrap: 'anywhere' }}>
          <SafeMarkdown text={text} />
        </Box>
      )}
      {steps && steps.length > 0 && <ToolSteps steps={steps} isComing={isComing} />}
      {isComing && <Loader type="dots" size="xs" role="img" aria-label="Response in progress" />}
      {problem && (
        <Text size="sm" c="red" role="alert">
          {problem}
        </Text>
      )}
      {requestId && !isComing && <RequestFigures requestId={requestId} hasTokens />}
    </Stack>
  )
}

interface Props {
  label: string
  lines: readonly Line[]
  isBusy: boolean
  height: BoxProps['h']
  /** The empty state. */
  children: ReactNode
}

/** A conversation scrolled nearer to its end than this follows new messages. */
const nearPixels = 80

/** A conversation as it grows; the end stays in view. */
export function ChatLog({ label, lines, isBusy, height, children }: Props) {
  const log = useRef<HTMLDivElement>(null)
  const isFollowing = useRef(true)
  useEffect(() => {
    if (isFollowing.current) log.current?.scrollTo({ top: log.current.scrollHeight })
  }, [lines, isBusy])
  const follow = ({ scrollHeight, scrollTop, clientHeight }: HTMLDivElement) => {
    isFollowing.current = scrollHeight - scrollTop - clientHeight < nearPixels
  }
  return (
    <Box
      ref={log}
      role="log"
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => follow(event.currentTarget)}
      h={height}
      style={{ overflowY: 'auto' }}
    >
      {lines.length === 0 ? (
        <Group h="100%" justify="center">
          <Text c="dimmed" size="sm" ta="center" component="div">
            {children}
          </Text>
        </Group>
      ) : (
        <Stack gap="md" pr="xs">
          {lines.map((line, index) =>
            line.role === 'user' ? (
              <MessageText key={index} text={line.text} />
            ) : (
              <Answer key={index} line={line} isComing={isBusy && index === lines.length - 1} />
            ),
          )}
        </Stack>
      )}
    </Box>
  )
}
