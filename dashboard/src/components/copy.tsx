import { Button } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'

interface Props {
  value: string
  label: string
  onCopied?: () => void
}

/** Copies a text; where the browser lets no page do that, it says so. */
export function Copy({ value, label, onCopied }: Props) {
  const { copy, copied, error } = useClipboard({ timeout: 2000 })
  const press = () => {
    copy(value)
    onCopied?.()
  }
  const words = copied ? 'Copied' : error ? 'Not allowed: select and copy it' : label
  return (
    <Button size="xs" variant="default" onClick={press} aria-live="polite">
      {words}
    </Button>
  )
}
