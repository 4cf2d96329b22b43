"""A small kernel for HTTP surfaces, on Starlette: declared endpoints, checked input, and threads with a limit.

    from tidings.http.endpoints import Routes

    routes = Routes("Notes")

    @routes.put("/notes/{note_id}", status=201)
    def update_note(note_id: int, body: NoteUpdate, notes: Notes) -> Note:
        return notes.update(note_id, body.text)

The signature is the contract: where an argument comes from, and the OpenAPI document, are derived from it.

endpoints         Routes and Endpoint: declarations
surface           Surface: an ASGI application of endpoints; says who calls and how errors are answered by its hooks
binding           the arguments of a handler, by its signature
queries, forms    query strings and forms ─► structs
json_body         JSON ─► structs; errors name the field
requests          Request: a body within limits of size and pace
content_coding    bodies in gzip and zstd
body_slots        BodySlots: how many bodies of strangers are read at the same time
uploads           bodies that are too large for memory
responses         JSON, downloads, responses in pieces
compression       zstd, br, gzip, deflate
origins           requests that another site made the browser send (CSRF)
password_gate     PasswordGate: few threads for what verifies passwords
thread_queue      threads for handlers, and how many requests may wait for one
load              how busy this process is, and the others
openapi_schemas   JSON Schemas of structs and queries
front_door        the outermost application: Host header, access log

It never knows who may sign in, what is stored, or a setting: a surface passes these in. It sends no requests.
"""
