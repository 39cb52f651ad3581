import { Button, Modal } from '@mantine/core'
import { useState } from 'react'
import { DirectoryForm } from './directory-form'
import { DirectoryToken } from './directory-token'
import type { DirectoryActions, DirectoryWithToken } from './queries'

/** The button that creates a directory, its form, and the token that is shown once. */
export function NewDirectory({
  create,
  isOperator,
}: Required<Pick<DirectoryActions, 'create' | 'isOperator'>>) {
  const [isOpen, setOpen] = useState(false)
  const [created, setCreated] = useState<DirectoryWithToken>()
  const close = () => setOpen(false)
  return (
    <>
      <Button onClick={() => setOpen(true)}>New directory</Button>
      <Modal opened={isOpen} onClose={close} title="New directory" size="lg">
        <DirectoryForm
          isOperator={isOperator}
          save={async (fields) => {
            setCreated(await create(fields))
            close()
          }}
          onCancel={close}
        />
      </Modal>
      {created && <DirectoryToken directory={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}
