import { TextInput } from '@mantine/core'

interface Props {
  label: string
  secret: string
  /** Whether the dialog around it opens with it in focus. */
  isFirst?: boolean
}

/** A secret that is shown this once: to be selected as a whole, and kept by no browser. */
export const SecretOnce = ({ label, secret, isFirst = false }: Props) => (
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
