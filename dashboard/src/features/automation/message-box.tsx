import { Button, Group, Paper, Stack, Textarea } from '@mantine/core'
import type { ReactNode, Ref } from 'react'

interface Props {
  text: string
  onText: (text: string) => void
  /** The description of the field. */
  hint: string
  isBusy: boolean
  /** The message is sent as soon as possible. */
  isWaiting: boolean
  onSend: () => void
  onStop: () => void
  /** The field, for a page that moves the focus to it. */
  field?: Ref<HTMLTextAreaElement>
  /** Further actions, left of the button. */
  children?: ReactNode
}

/** The input for a message, with buttons to send it and to stop the response. */
export const MessageBox = (props: Props) => {
  const { text, onText, hint, isBusy, isWaiting, onSend, onStop, field, children } = props
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Textarea
          ref={field}
          label="Message"
          description={hint}
          autosize
          minRows={2}
          maxRows={10}
          maxLength={100_000}
          value={text}
          onChange={(event) => onText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter that confirms an input method's candidate must not send the message.
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

/** Explains how to send a message. */
export const enterSends = 'Enter to send, Shift + Enter for a new line.'
