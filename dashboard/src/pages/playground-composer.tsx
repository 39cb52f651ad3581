import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useLocation } from '@tanstack/react-router'
import { enterSends, MessageBox } from '../components/message-box'
import { useMessage } from '../message'
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

/** The input for messages. */
export function Composer({ onStop, onSystem, onOptions, areOptionsOpen, ...sending }: Props) {
  // The text may come from another page: it is too long for an address.
  const brought = useLocation({ select: ({ state }) => state.message })
  const { text, setText, isWaiting, send } = useMessage({ ...sending, brought })
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
        onSend={send}
        onStop={onStop}
      >
        <Button variant="subtle" size="xs" onClick={onOptions} aria-expanded={areOptionsOpen}>
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
