import { Button, Group, Modal, Stack, Text } from '@mantine/core'
import { Problem } from './problem'
import { useSubmit } from '../submit'

interface Props {
  /** What is about to happen, as a question. */
  question: string
  /** What cannot be undone. */
  about: string
  label: string
  /** The way back. */
  cancel?: string
  onConfirm: () => Promise<unknown>
  onClose: () => void
}

/** Asks before something that cannot be undone. */
export function Confirm({ question, about, label, cancel = 'Keep it', onConfirm, onClose }: Props) {
  const { submit, isBusy, error } = useSubmit(async () => {
    await onConfirm()
    onClose()
  })
  return (
    <Modal opened onClose={onClose} title={question}>
      <Stack>
        <Text size="sm">{about}</Text>
        <Problem error={error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {cancel}
          </Button>
          <Button color="red" loading={isBusy} onClick={() => void submit(undefined)}>
            {label}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
