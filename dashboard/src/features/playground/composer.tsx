import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { enterSends, MessageBox } from '../automation/message-box'
import { useMessage } from '../automation/message'
import { SavedPrompts } from './prompt-menu'

interface Props {
  isReady: boolean
  isBusy: boolean
  onSend: (text: string) => void
  onStop: () => void
  onSystem: (text: string) => void
  /** Shows the options where the page has no room for them. */
  onOptions: () => void
  /** The conversation: the focus moves to the field when another one begins. */
  chat: string | undefined
}

/** Moves the focus to the field when a conversation begins; on a touch screen that would open the keyboard. */
function useFocus(chat: string | undefined) {
  const field = useRef<HTMLTextAreaElement>(null)
  const isNew = chat === undefined
  const focus = () => {
    if (window.matchMedia('(pointer: fine)').matches) field.current?.focus({ preventScroll: true })
  }
  useEffect(focus, [isNew])
  return { field, focus }
}

/** The input for messages. */
export function Composer({ onStop, onSystem, onOptions, chat, ...sending }: Props) {
  // The text may come from another page: it is too long for an address.
  const initialText = useLocation({ select: ({ state }) => state.message })
  const { text, setText, isWaiting, send } = useMessage({ ...sending, initialText })
  const { field, focus } = useFocus(chat)
  const [arePromptsOpen, prompts] = useDisclosure()
  return (
    <>
      <MessageBox
        text={text}
        onText={setText}
        hint={
          isWaiting ? 'Select a model above. The message is then sent automatically.' : enterSends
        }
        isBusy={sending.isBusy}
        isWaiting={isWaiting}
        onSend={() => {
          send()
          focus()
        }}
        onStop={onStop}
        field={field}
      >
        <Button variant="subtle" size="xs" onClick={onOptions} hiddenFrom="lg">
          Options
        </Button>
        <Button variant="subtle" size="xs" onClick={prompts.open}>
          Saved prompt
        </Button>
      </MessageBox>
      {arePromptsOpen && (
        <SavedPrompts onMessage={setText} onSystem={onSystem} onClose={prompts.close} />
      )}
    </>
  )
}
