import { useEffect, useState } from 'react'

interface Props {
  /** What it begins with. */
  brought?: string | undefined
  /** It can be sent now. */
  isReady: boolean
  /** The one before is being answered. */
  isBusy: boolean
  onSend: (text: string) => void
}

/** What is to be said. Who sends it before that can be done need not send it again. */
export function useMessage({ brought = '', isReady, isBusy, onSend }: Props) {
  const [text, setText] = useState(brought)
  const [isWaiting, setWaiting] = useState(false)
  const isEmpty = text.trim() === ''
  const write = (written: string) => {
    setText(written)
    // What was taken back is not sent with the next letter.
    if (written.trim() === '') setWaiting(false)
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
