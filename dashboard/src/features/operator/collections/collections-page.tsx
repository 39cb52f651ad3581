import { Alert, Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { CollectionForm } from './collection-form'
import { api } from '../../../api/client'
import { CollectionTable } from '../../collections/collection-table'
import { Confirm } from '../../../components/confirm'
import { ListPage } from '../../../components/list-page'
import { useOperatorAccess } from '../../../api/role'
import { Permitted, PermittedForms } from '../../../components/permitted'
import { systemCollectionsQuery, type SystemCollection } from './queries'
import { useRefresh } from '../refresh'
import { SidePanel } from '../../../components/side-panel'

const route = getRouteApi('/home/operator/collections')

export function SystemCollectionsPage() {
  const { collection: openId } = route.useSearch()
  const navigate = route.useNavigate()
  const { may } = useOperatorAccess()
  const close = () => void navigate({ search: {}, resetScroll: false })
  const add = {
    label: 'New collection',
    size: 'lg',
    form: (onClose: () => void) => <CollectionForm onClose={onClose} />,
  }
  return (
    <ListPage
      title="System collections"
      about="Collections available to every account. “auto-free” contains all free models unless you add models to it."
      query={useQuery(systemCollectionsQuery)}
      empty={{
        title: 'No collections yet',
        text: 'Group models that can replace each other.',
      }}
      add={may('POST /api/admin/collections') ? add : undefined}
    >
      {(collections) => (
        <>
          <CollectionTable collections={collections} page="/operator/collections" />
          {openId !== undefined && (
            <CollectionDrawer
              key={openId}
              collection={collections.find(({ id }) => id === openId)}
              onClose={close}
            />
          )}
        </>
      )}
    </ListPage>
  )
}

interface DrawerProps {
  /** Undefined when the collection does not exist. */
  collection: SystemCollection | undefined
  onClose: () => void
}

function CollectionDrawer({ collection, onClose }: DrawerProps) {
  const [isDeleting, setDeleting] = useState(false)
  const refresh = useRefresh()
  if (!collection) {
    return (
      <SidePanel onClose={onClose} title="Collection">
        <Alert color="gray">This collection was deleted.</Alert>
      </SidePanel>
    )
  }
  const { id, model_id: name } = collection
  const param = { id }
  const remove = async () => {
    await api.DELETE('/api/admin/collections/{id}', { params: { path: param } })
    onClose()
    await refresh()
  }
  return (
    <SidePanel onClose={onClose} size="lg" title={name}>
      <Stack gap="xl">
        <PermittedForms to="PUT /api/admin/collections/{id}">
          <CollectionForm collection={collection} onClose={onClose} />
        </PermittedForms>
        <Permitted to="DELETE /api/admin/collections/{id}">
          <Group>
            <Button variant="subtle" color="red" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </Group>
        </Permitted>
      </Stack>
      {isDeleting && (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests for this name are rejected from now on, for every account. The models stay."
          label="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </SidePanel>
  )
}
