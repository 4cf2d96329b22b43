"""One statement for SQLite and PostgreSQL: connections, transactions, and everything in which the two engines differ.

    from tidings.engine.database import Database

    database = Database("sqlite:///notes.db")
    with database.writing() as db:
        note_id = db.insert(insert(notes), text="bread")
    with database.reading() as db:
        text = db.scalar(select(notes.c.text).where(notes.c.id == note_id))

Statements are SQLAlchemy's. A write is one transaction: it commits when its block ends, and
rolls back when the block raises. Each difference between the engines is a function of one of these modules:

database          Database, Read, Write: connection pools, transactions, rows as structs
columns           types of columns, and names of constraints
statements        INSERT … ON CONFLICT, lists as one parameter, many rows with ids reserved in advance, locks
full_text         search: FTS5, or tsvector; its tables are in search_tables
notify            wakes processes that wait for something to do
row_text          tells whether anything in a row has changed
sequences         ids that are never given out again
distribution      tables distributed over several servers by user
idle_transactions ends those that others wait for
integrity         what an engine says of its own files
disk_space        the size of the database, and returning free space
sqlite_file       an SQLite database as a file: copies and checks
database_clock    the clock that all machines share
errors            ConcurrentChange, DatabaseReplaced, and which errors mean StoreUnavailable of `tidings.base.errors`

It never creates or knows the tables of an application, except the full-text index, which names the tables `users` and
`entries`, and it has no settings: URLs and limits are arguments.
"""
