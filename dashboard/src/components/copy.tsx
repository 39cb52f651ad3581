import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'

interface Props {
  value: string
  label: string
  onCopied?: () => void
}

/** Copies a text to the clipboard, or reports that the browser does not allow it. */
export function Copy({ value, label, onCopied }: Props) {
  const { copy, copied, error } = useClipboard({ timeout: 2000 })
  const press = () => {
    copy(value)
    onCopied?.()
  }
  const text = copied ? 'Copied' : error ? 'Copy failed: select the text' : label
  return (
    <Button size="xs" variant="default" onClick={press} aria-live="polite">
      {text}
    </Button>
  )
}
