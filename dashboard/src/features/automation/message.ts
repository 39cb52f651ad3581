import { useEffect, useState } from 'react'

interface Props {
  /** The initial text. */
  initialText?: string | undefined
  /** Whether a message can be sent now. */
  isReady: boolean
  /** Whether the previous message is still being answered. */
  isBusy: boolean
  onSend: (text: string) => void
}

/**
 * The state of the message input. A message sent before sending is possible waits and is sent
 * automatically.
 */
export function useMessage({ initialText = '', isReady, isBusy, onSend }: Props) {
  const [text, setText] = useState(initialText)
  const [isWaiting, setWaiting] = useState(false)
  const isEmpty = text.trim() === ''
  const write = (changed: string) => {
    setText(changed)
    // A message that was deleted while waiting must not go out with the next keystroke.
    if (changed.trim() === '') setWaiting(false)
  }
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
  return { text, setText: write, isWaiting, send }
}
