import { Button, Group, Paper, Stack, Textarea } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  text: string
  onText: (text: string) => void
  /** What stands below the name of the field. */
  hint: string
  isBusy: boolean
  /** It is sent as soon as it can be. */
  isWaiting: boolean
  onSend: () => void
  onStop: () => void
  /** What else can be done, at the left of the button. */
  children?: ReactNode
}

/** Where a message is written, sent, and its answer stopped. */
export const MessageBox = (props: Props) => {
  const { text, onText, hint, isBusy, isWaiting, onSend, onStop, children } = props
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Textarea
          label="Message"
          description={hint}
          autosize
          minRows={2}
          maxRows={10}
          maxLength={100_000}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter that ends the choice of a character sends nothing.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            onSend()
          }}
        />
        <Group justify="space-between">
          <Group gap="xs">{children}</Group>
          {isBusy ? (
            <Button color="red" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button onClick={onSend} loading={isWaiting} disabled={text.trim() === ''}>
              Send
            </Button>
          )}
        </Group>
      </Stack>
    </Paper>
  )
}

/** How a message is sent. */
export const enterSends = 'Enter sends, Shift and Enter begin a new line.'
