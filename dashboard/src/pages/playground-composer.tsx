import { Button, Group, Paper, Stack, Textarea } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { SavedPrompts } from './playground-prompts'

interface Props {
  isReady: boolean
  isBusy: boolean
  onSend: (text: string) => void
  onStop: () => void
  onSystem: (text: string) => void
  onOptions: () => void
  areOptionsOpen: boolean
}

/** What is to be said. Who is quicker than the list of models need not say it twice. */
function useMessage({ isReady, isBusy, onSend }: Pick<Props, 'isReady' | 'isBusy' | 'onSend'>) {
  // Another page may have brought it: it is too long for an address.
  const brought = useLocation({ select: ({ state }) => state.message })
  const [text, setText] = useState(brought ?? '')
  const [isWaiting, setWaiting] = useState(false)
  const isEmpty = text.trim() === ''
  const send = () => {
    if (isEmpty || isBusy) return
    setWaiting(!isReady)
    if (!isReady) return
    onSend(text)
    setText('')
  }
  useEffect(() => {
    if (isWaiting && isReady) send()
  })
  return { text, setText, isEmpty, isWaiting, send }
}

/** Where messages are written. */
export function Composer({ onStop, onSystem, onOptions, areOptionsOpen, ...sending }: Props) {
  const { text, setText, isEmpty, isWaiting, send } = useMessage(sending)
  const [arePromptsOpen, prompts] = useDisclosure()
  return (
    <Paper withBorder p="md">
      <Stack gap="xs">
        <Textarea
          label="Message"
          description={
            isWaiting
              ? 'It is sent as soon as there is a model: choose one above.'
              : 'Enter sends, Shift and Enter begin a new line.'
          }
          autosize
          minRows={2}
          maxRows={10}
          maxLength={100_000}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            // Enter that ends the choice of a character sends nothing.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            send()
          }}
        />
        <Group justify="space-between">
          <Group gap="xs">
            <Button variant="subtle" size="xs" onClick={onOptions} aria-expanded={areOptionsOpen}>
              Options
            </Button>
            <Button variant="subtle" size="xs" onClick={prompts.open}>
              Saved prompt
            </Button>
          </Group>
          {sending.isBusy ? (
            <Button color="red" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button onClick={send} loading={isWaiting} disabled={isEmpty}>
              Send
            </Button>
          )}
        </Group>
      </Stack>
      {arePromptsOpen && (
        <SavedPrompts onMessage={setText} onSystem={onSystem} onClose={prompts.close} />
      )}
    </Paper>
  )
}
