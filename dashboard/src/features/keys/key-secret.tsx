import { Alert, Button, Group, Modal, Stack } from '@mantine/core'
import { Copy } from '../../components/copy'
import { NewSecret } from '../../components/secret-once'

interface Props {
  /** The kind of key; an API key by default. */
  noun?: string
  /** Its name. */
  name: string
  secret: string
  onClose: () => void
}

/** Shows a secret once; only its button closes the dialog, so that a stray click does not lose the secret. */
export const KeySecret = ({ noun = 'API key', name, secret, onClose }: Props) => (
  <Modal
    opened
    onClose={onClose}
    title={`${noun} ${name}`}
    closeOnClickOutside={false}
    closeOnEscape={false}
    withCloseButton={false}
  >
    <Stack gap="sm">
      <Alert color="yellow">Copy the key now and store it safely. It is not shown again.</Alert>
      <NewSecret label={noun} secret={secret} />
      <Group justify="space-between">
        <Copy value={secret} label="Copy" />
        <Button onClick={onClose}>Done</Button>
      </Group>
    </Stack>
  </Modal>
)
