import { TextInput } from '@mantine/core'

interface Props {
  label: string
  secret: string
  /** Whether it receives focus when the dialog opens. */
  isFirst?: boolean
}

/** A secret that is shown once: selectable as a whole, and not saved by the browser. */
export const NewSecret = ({ label, secret, isFirst = false }: Props) => (
  <TextInput
    label={label}
    value={secret}
    readOnly
    autoComplete="off"
    spellCheck={false}
    data-autofocus={isFirst || undefined}
    onFocus={(event) => event.currentTarget.select()}
    styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
  />
)
